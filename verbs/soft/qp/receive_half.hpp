#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {

/// The half of a queue pair that reads the stream, places, and completes receives. One thread at a
/// time runs it; which, its owner sees to. What it finds out for the transmit half it leaves in
/// QpParts::wanted. Files: receive_half.cpp reads, receive_events.cpp acts upon what has come,
/// receive_flush.cpp ends receives.
class ReceiveHalf {
 public:
  explicit ReceiveHalf(QpParts& parts) : parts_(parts) {}

  /// Reads, verifies and places; a bounded amount. True once there is nothing more for now.
  bool run(Link& link);
  /// Completes the receives that are posted, if that is wanted.
  void flush_if_wanted();

  // Any thread:
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
  bool read(Link& link);
  MutableBytes take_in(Link& link, std::size_t& have, MutableBytes data);
  template <typename Step>
  connection::InboundStop gather_events(Link& link, Step step, connection::InboundEvents& events);
  template <typename Step>
  void take_runs(Link& link, Step step);
  [[nodiscard]] connection::InboundLimits limits() const;
  bool await_receive(Link& link, connection::InboundEvents& events);
  void set_awaits_receive(bool awaits);
  bool offer_awaiting(Link& link, connection::InboundEvents& events);
  bool resume(Link& link);
  void keep(Link& link, ConstBytes rest, ConstBytes behind);
  void account_kept(Link& link);

  // receive_events.cpp
  void on_events(Link& link, const connection::InboundEvents& events);
  void on_fault(const rdmap::Fault& fault, std::optional<std::uint32_t> faulty_read);
  void on_peer_terminate(const rdmap::Terminate& message,
                         std::optional<std::uint32_t> terminated_read);
  void on_end_of_stream(Link& link, bool inside_fpdu);
  void on_lost(Link& link, const std::error_code& error);
  void end_input(Link& link, connection::LifeEvent event);
  void complete(std::span<const rdmap::SendDelivered> deliveries);
  void complete(const rdmap::SendDelivered& delivered);

  // receive_flush.cpp
  void flush(Status first);
  [[nodiscard]] bool keeps_receives() const;
  void complete_unfilled(const rdmap::ReceiveBuffer& buffer, Status status);

  QpParts& parts_;
  std::atomic<bool> awaits_receive_{false};
  std::atomic<bool> receives_over_{false};
  std::atomic<std::chrono::steady_clock::rep> half_since_{0};
  std::atomic<std::size_t> half_octets_{0};
};

}  // namespace iwarp::verbs::soft
