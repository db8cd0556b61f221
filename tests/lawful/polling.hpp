#pragma once

#include "compat/pair.hpp"

namespace iwarp::lawful {

using compat_test::completion_of;
using compat_test::End;
using compat_test::here;
using compat_test::must;
using compat_test::Pair;

/// Queue pairs for so many requests each way; their completion queues are as deep.
inline compat_test::Prepare sized(std::uint32_t sends, std::uint32_t receives) {
  return [=](End&, ibv_qp_init_attr& attributes) {
    attributes.cap.max_send_wr = sends;
    attributes.cap.max_recv_wr = receives;
  };
}

/// Sends `count` messages, each when the one before has completed at the sender; the receives for
/// them are posted.
inline void fill(End& from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    must(from.post_send(i, from.sge()), "ibv_post_send");
    const ibv_wc sent = completion_of(from.id->send_cq);
    if (sent.status != IBV_WC_SUCCESS) throw std::runtime_error("a Send failed");
  }
}

/// Posts until a post is refused, at most so often; returns how many were taken. `error`: why the
/// next one was not.
template <typename Post>
int post_until_refused(int most, const Post& post, int& error) {
  for (int i = 0; i < most; ++i) {
    error = post(static_cast<std::uint64_t>(i));
    if (error != 0) return i;
  }
  return most;
}

/// Until `condition` holds, for at most twenty seconds.
template <typename Condition>
bool eventually(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace iwarp::lawful
