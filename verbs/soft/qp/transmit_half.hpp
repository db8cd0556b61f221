#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "soft/qp/parts.hpp"

namespace iwarp::verbs::soft {

/// The half of a queue pair that sends, and completes send requests. One thread at a time runs it;
/// which, its owner sees to. What it finds out for the receive half it leaves in QpParts::wanted.
/// Files: transmit_half.cpp sends, transmit_complete.cpp completes and flushes requests,
/// transmit_faults.cpp what cannot be sent.
class TransmitHalf {
 public:
  explicit TransmitHalf(QpParts& parts) : parts_(parts) {}

  /// Sends what may be sent, completes what is done with, and sees to the end of the connection if
  /// that is due.
  void run();

  // Any thread:
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
  void send_all(Link& link);
  bool send_batch(Link& link);
  bool perform_local(Link& link);
  [[nodiscard]] bool local_due(const Link& link) const;
  void yield_turn();
  void await_memory();
  [[nodiscard]] bool all_has_left(Link& link) const;
  [[nodiscard]] bool rtr_comes_first(const Link& link) const;
  void end_draining(const Link& link);

  // transmit_complete.cpp
  void complete_sent(Link& link);
  void complete_head(Status status);
  void push(const Completion& completion);
  void flush_requests();
  [[nodiscard]] Status flush_status() const;
  [[nodiscard]] bool has_left(std::uint32_t position) const;

  // transmit_faults.cpp
  void blame(const connection::SendFault& fault);
  bool goes_on_after(const tcp_offload::Sent& sent, Link& link);
  void lose_cut_fpdu(const connection::CutFault& cut);
  void lose_sending(const std::error_code& error);

  QpParts& parts_;
  std::atomic<Sending> sending_{Sending::kGoesOn};
  bool failing_ = false;  // a request has failed, and nothing behind it succeeds
  std::optional<BadRequest> bad_request_;
};

}  // namespace iwarp::verbs::soft
