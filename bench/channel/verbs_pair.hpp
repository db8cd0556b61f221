#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>
#include <vector>

#include "control.hpp"

namespace iwarp::bench::channel {

/// What a verbs call has returned; throws std::system_error if that is null.
template <typename Object>
Object* made(Object* object, const char* what) {
  if (object == nullptr) throw std::system_error(errno, std::generic_category(), what);
  return object;
}

struct Destroy {
  void operator()(ibv_pd* pd) const { ibv_dealloc_pd(pd); }
  void operator()(ibv_mr* mr) const { ibv_dereg_mr(mr); }
  void operator()(ibv_cq* cq) const { ibv_destroy_cq(cq); }
  void operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, Destroy>;

/// The memory and the work requests of a queue pair: a receive for each message that the peer may
/// send, and messages of one content, inline, of which few complete with an entry.
class Pair {
 public:
  /// `index` comes back with the completions of receives.
  Pair(ibv_pd* domain, const Task& task, std::uint32_t index);

  /// What its queue pair is to be made with.
  [[nodiscard]] ibv_qp_init_attr attributes(ibv_cq* queue) const;
  /// Entries that it may need of a completion queue.
  [[nodiscard]] static int entries(const Task& task);

  /// Posts a receive for each message that may come.
  void begin(ibv_qp* queue_pair);
  /// Sends as many messages as may be unanswered.
  void ask(ibv_qp* queue_pair) { post_sends(queue_pair, sends_.size()); }

  [[nodiscard]] static std::uint32_t index_of(const ibv_wc& received) {
    return static_cast<std::uint32_t>(received.wr_id >> 32U);
  }
  /// A message has come. True if it is the first since turn().
  bool note(const ibv_wc& received);
  /// Posts the receives of all that have come anew, and then sends as many messages; a list each.
  void turn(ibv_qp* queue_pair);

 private:
  struct Receive {
    ibv_recv_wr request{};
    ibv_sge piece{};
  };
  void post_receives(ibv_qp* queue_pair);
  void post_sends(ibv_qp* queue_pair, std::size_t count);

  std::vector<std::byte> memory_;  // what is sent, then what is received
  Owned<ibv_mr> region_;
  std::vector<Receive> receives_;
  ibv_sge message_{};
  std::vector<ibv_send_wr> sends_;
  std::vector<Receive*> due_;
  std::uint32_t unsignaled_ = 0;
};

/// As for programs that know verbs: std::system_error if a completion says that a request failed.
void require_success(const ibv_wc& done);

}  // namespace iwarp::bench::channel
