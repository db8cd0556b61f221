#pragma once

#include <array>

#include "support/forked_child.hpp"
#include "verbs/loopback_support.hpp"

namespace iwarp::verbs::test {

inline constexpr Access kEverything =
    Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead;

/// A connection, and a program that reads and writes over it.
struct Stream {
  static constexpr std::size_t kSize = 100'000;
  static constexpr auto kPatience = 10s;

  explicit Stream(const QpOptions& options = {}) : pair({}, {}, options) {}

  /// A Read and a Write; false unless both complete.
  bool turn() {
    const Sge from = here.sge();
    if (!pair.client_qp.post_send(read_of(1, {&from, 1}, theirs))) return false;
    if (!pair.client_qp.post_send(write_of(2, {&from, 1}, theirs))) return false;
    for (int i = 0; i < 2; ++i) {
      const auto done = pair.client.cq.wait(kPatience);
      if (!done || done->status != Status::kSuccess) return false;
    }
    return true;
  }
  bool turns(int count) {
    for (int i = 0; i < count; ++i) {
      if (!turn()) return false;
    }
    return true;
  }

  LoopbackPair pair;
  Buffer here{pair.client.pd, kSize, kEverything};
  Buffer theirs{pair.server.pd, kSize, kEverything};
};

}  // namespace iwarp::verbs::test
