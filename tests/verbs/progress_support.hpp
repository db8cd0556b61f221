#pragma once

#include <gtest/gtest.h>

#include "verbs/loopback_support.hpp"

namespace iwarp::verbs::test {

/// A connection over which one-sided traffic comes, whatever its programs wait for.
class Progress : public testing::Test {
 protected:
  void write(std::byte value) {
    std::fill(source.memory.begin(), source.memory.end(), value);
    const Sge from = source.sge();
    ASSERT_TRUE(pair.client_qp.post_send(write_of(1, {&from, 1}, target)));
    ASSERT_EQ(poll_for(pair.client.cq, 1).size(), 1U);
  }
  // Waits as a program does that only looks at memory.
  bool target_shows(std::byte value) {
    return eventually([&] { return target.last() == value; }, [] {});
  }
  static void poll_in_vain(CompletionQueue& cq, int times) {
    Completion none;
    for (int i = 0; i < times; ++i) EXPECT_EQ(cq.poll({&none, 1}), 0U);
  }

  LoopbackPair pair;
  Buffer source{pair.client.pd, 100'000, Access::kLocalWrite};
  Buffer target{pair.server.pd, 100'000,
                Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead};
};

}  // namespace iwarp::verbs::test
