#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

#include "soft/qp/halves/handoff_lock.hpp"
#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {

/// The half of a queue pair that reads the stream, places, and completes receives. One thread at a
/// time is inside, and no other waits for it. What it finds out for the transmit half it leaves in
/// QpParts::wanted, for when the thread has left. Files: receive_half.cpp reads, receive_events.cpp
/// acts upon what has come, receive_flush.cpp ends receives.
class ReceiveHalf {
 public:
  explicit ReceiveHalf(QpParts& parts) : parts_(parts) {}

  // Any thread:
  /// Reads, verifies and places; a bounded amount. True once there is nothing more for now, false
  /// also if another thread is inside.
  bool run(Link& link);
  /// Ends placing, and once the requests have been flushed completes the receives that are posted,
  /// if that is wanted; or has the thread do so that is inside.
  void flush_if_wanted();
  /// Lets no thread in any more.
  void close();
  /// Whether a thread is inside, just now; for ever, once it is closed.
  [[nodiscard]] bool busy() const { return inside_.held(); }
  /// Whether a message has come that awaits a receive; nothing behind it is read.
  [[nodiscard]] bool awaits_receive() const { return awaits_receive_.load(); }
  /// Whether anything can still come in, now.
  [[nodiscard]] bool reads() const { return !parts_.life.input_ended() && !awaits_receive(); }
  /// Whether each receive that was posted has completed, and none is taken any more.
  [[nodiscard]] bool flushed() const { return receives_over_.load(); }
  /// The FPDU of which a part has come.
  [[nodiscard]] std::optional<HalfFpdu> half_fpdu() const;

 private:
  // receive_half.cpp
  bool run_inside(Link& link) IWARP_REQUIRES(inside_);
  bool read(Link& link) IWARP_REQUIRES(inside_);
  void on_bad_fpdu(Link& link, const std::error_code& error) IWARP_REQUIRES(inside_);
  MutableBytes take_in(Link& link, std::size_t& have, MutableBytes data) IWARP_REQUIRES(inside_);
  template <typename Step>
  connection::InboundStop gather_events(Link& link, Step step, connection::InboundEvents& events)
      IWARP_REQUIRES(inside_);
  template <typename Step>
  void take_runs(Link& link, Step step) IWARP_REQUIRES(inside_);
  [[nodiscard]] connection::InboundLimits limits() const IWARP_REQUIRES(inside_);
  bool await_receive(Link& link, connection::InboundEvents& events) IWARP_REQUIRES(inside_);
  void set_awaits_receive(bool awaits) IWARP_REQUIRES(inside_);
  bool offer_awaiting(Link& link, connection::InboundEvents& events) IWARP_REQUIRES(inside_);
  bool resume(Link& link) IWARP_REQUIRES(inside_);
  void keep(Link& link, ConstBytes rest, ConstBytes behind) IWARP_REQUIRES(inside_);
  void account_kept(Link& link) IWARP_REQUIRES(inside_);

  // receive_events.cpp
  void on_events(Link& link, const connection::InboundEvents& events) IWARP_REQUIRES(inside_);
  void on_fault(const rdmap::Fault& fault, std::optional<std::uint32_t> faulty_read)
      IWARP_REQUIRES(inside_);
  void on_peer_terminate(const rdmap::Terminate& message,
                         std::optional<std::uint32_t> terminated_read) IWARP_REQUIRES(inside_);
  void on_end_of_stream(Link& link, bool inside_fpdu) IWARP_REQUIRES(inside_);
  void on_lost(Link& link, const std::error_code& error) IWARP_REQUIRES(inside_);
  void end_input(Link& link, connection::LifeEvent event) IWARP_REQUIRES(inside_);
  void complete(std::span<const rdmap::SendDelivered> deliveries) IWARP_REQUIRES(inside_);
  void complete(const rdmap::SendDelivered& delivered) IWARP_REQUIRES(inside_);

  // receive_flush.cpp
  void flush_inside() IWARP_REQUIRES(inside_);
  void stop_placing() IWARP_REQUIRES(inside_);
  void complete_begun(Status status) IWARP_REQUIRES(inside_);
  void flush() IWARP_REQUIRES(inside_);
  void report_last_of_shared() IWARP_REQUIRES(inside_);
  [[nodiscard]] bool keeps_receives() const IWARP_REQUIRES(inside_);
  void complete_unfilled(const rdmap::ReceiveBuffer& buffer, Status status) IWARP_REQUIRES(inside_);

  QpParts& parts_;
  HandoffLock inside_;
  bool placing_stopped_ IWARP_GUARDED_BY(inside_) = false;
  std::optional<rdmap::ReceiveBuffer> begun_
      IWARP_GUARDED_BY(inside_);  // a message had begun to fill it when placing stopped
  std::atomic<bool> awaits_receive_{false};
  std::atomic<bool> receives_over_{false};
  std::atomic<std::chrono::steady_clock::rep> half_since_{0};
  std::atomic<std::size_t> half_octets_{0};
};

}  // namespace iwarp::verbs::soft
