#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include "soft/qp/halves/handoff_lock.hpp"
#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {

/// The half of a queue pair that sends, and completes send requests. One thread at a time is
/// inside, and no other waits for it: it does what others ask for meanwhile. What it finds out for
/// the receive half it leaves in QpParts::wanted, for when the thread has left.
/// Files: transmit_half.cpp sends, transmit_complete.cpp completes and flushes requests,
/// transmit_faults.cpp what cannot be sent.
class TransmitHalf {
 public:
  explicit TransmitHalf(QpParts& parts) : parts_(parts) {}

  // Any thread:
  /// Sends what may be sent, completes what is done with, and sees to the end of the connection if
  /// that is due; or has the thread do so that is inside.
  void run();
  /// Does that once more, and lets no thread in any more.
  void close();
  /// Whether a thread is inside, just now; for ever, once it is closed.
  [[nodiscard]] bool busy() const { return inside_.held(); }
  /// Whether the socket took less than it was offered, and will tell when it takes more.
  [[nodiscard]] bool awaits_room() const { return sending_.load() == Sending::kAwaitsSocket; }
  /// Whether the system had no memory to send with, and nothing tells when it has.
  [[nodiscard]] bool awaits_memory() const { return sending_.load() == Sending::kAwaitsMemory; }

 private:
  enum class Sending : std::uint8_t { kGoesOn, kAwaitsSocket, kAwaitsMemory };
  /// A request that cannot be sent or performed.
  struct BadRequest {
    std::uint32_t position;
    Status status;
    std::string reason;
  };

  // transmit_half.cpp
  void run_inside() IWARP_REQUIRES(inside_);
  void run_turn() IWARP_REQUIRES(inside_);
  void send_all(Link& link) IWARP_REQUIRES(inside_);
  bool take_step(Link& link) IWARP_REQUIRES(inside_);
  bool send_batch(Link& link) IWARP_REQUIRES(inside_);
  [[nodiscard]] connection::OutboundLimits limits(const Link& link) const IWARP_REQUIRES(inside_);
  bool perform_local(Link& link) IWARP_REQUIRES(inside_);
  [[nodiscard]] bool local_due(const Link& link) const IWARP_REQUIRES(inside_);
  void yield_turn() IWARP_REQUIRES(inside_);
  void await_memory() IWARP_REQUIRES(inside_);
  [[nodiscard]] bool all_has_left(Link& link) const IWARP_REQUIRES(inside_);
  [[nodiscard]] bool rtr_comes_first(const Link& link) const IWARP_REQUIRES(inside_);
  void end_draining(const Link& link) IWARP_REQUIRES(inside_);

  // transmit_complete.cpp
  void complete_sent(Link& link) IWARP_REQUIRES(inside_);
  void complete_head(Status status) IWARP_REQUIRES(inside_);
  std::uint32_t complete_heads(std::uint32_t done) IWARP_REQUIRES(inside_);
  void push(std::span<const Completion> completions) IWARP_REQUIRES(inside_);
  void flush_requests() IWARP_REQUIRES(inside_);
  [[nodiscard]] Status flush_status() const IWARP_REQUIRES(inside_);
  [[nodiscard]] bool has_left(std::uint32_t position) const IWARP_REQUIRES(inside_);

  // transmit_faults.cpp
  void blame(const connection::SendFault& fault) IWARP_REQUIRES(inside_);
  bool goes_on_after(const tcp_offload::Sent& sent, Link& link) IWARP_REQUIRES(inside_);
  void lose_cut_fpdu(const connection::CutFault& cut) IWARP_REQUIRES(inside_);
  void lose_sending(const std::error_code& error) IWARP_REQUIRES(inside_);

  QpParts& parts_;
  HandoffLock inside_;
  std::atomic<Sending> sending_{Sending::kGoesOn};
  bool failing_ IWARP_GUARDED_BY(inside_) =
      false;  // a request has failed, and nothing behind it succeeds
  std::optional<BadRequest> bad_request_ IWARP_GUARDED_BY(inside_);
};

}  // namespace iwarp::verbs::soft
