#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "faulty_rdma_core.hpp"
#include "iwarp/rnic/adapters.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::rnic::test {

using namespace std::chrono_literals;

/// The name of the adapter that there is: the one of this project's own library.
inline constexpr const char* kAdapter = "iwarp0";

inline const verbs::Endpoint kLoopback = verbs::Endpoint::parse("127.0.0.1:0").value();

/// Whether the condition, of which nothing tells, holds in time.
template <typename Condition>
bool eventually(Condition holds) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (!holds() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  return holds();
}

/// Whether all that was made is gone in time: threads see off what programs have left behind.
inline bool nothing_is_left() {
  return eventually([] { return living() == 0; });
}

/// Two queue pairs on it, and memory.
class Adapters : public testing::Test {
 protected:
  void TearDown() override { heal(); }

  /// Makes a connection from a_ to b_, or to a queue pair by a listener of its device.
  void connect() { connect_to(device_, b_); }
  void connect_to(verbs::Device& device, verbs::QueuePair& qp) {
    auto listener = device.listen(kLoopback).value();
    ASSERT_TRUE(a_.start_connect(listener.endpoint()));
    auto request = listener.next(10s);
    ASSERT_TRUE(request);
    const auto accepted = request->accept(qp);
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(eventually([&] { return a_.state() != verbs::QpState::kConnecting; }));
    ASSERT_EQ(a_.state(), verbs::QpState::kRts);
  }
  /// The completions that come until each of `count` requests has one.
  std::vector<verbs::Completion> completions(std::size_t count) {
    std::vector<verbs::Completion> all;
    while (all.size() < count) {
      const auto one = cq_.wait(10s);
      if (!one) break;
      all.push_back(*one);
    }
    return all;
  }

  verbs::Device device_{open_adapter(kAdapter).value()};
  verbs::ProtectionDomain pd_ = device_.alloc_pd().value();
  verbs::CompletionQueue cq_ = device_.create_cq(64).value();
  verbs::QueuePair a_ = pd_.create_qp(cq_).value();
  verbs::QueuePair b_ = pd_.create_qp(cq_).value();
  std::array<std::byte, 4096> memory_{};
  verbs::MemoryRegion region_ =
      pd_.register_memory(memory_, verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite |
                                       verbs::Access::kRemoteRead)
          .value();
};

}  // namespace iwarp::rnic::test
