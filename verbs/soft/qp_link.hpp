#pragma once

#include <deque>
#include <vector>

#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {

/// What a queue pair has only while it is connected.
struct SoftQp::Link {
  Link(SoftQp& qp, RdmaMode mode, std::uint32_t secret);

  // What a device that does not copy still reads from; it outlives the stream.
  struct Held {
    std::uint64_t end;
    std::vector<std::byte> unsent;
    GatherList gather;
    std::vector<ddp::StagTable::Pin> pins;
  };
  std::deque<Held> held;
  std::vector<std::byte> unsent;  // the rest of an FPDU that was cut

  RdmaMode mode;
  tcp_offload::Stream& stream;
  rdmap::OutstandingRequests reads;
  rdmap::ResponseQueue responses;

  // The receive half's.
  mpa::Deframer deframer;
  rdmap::Receiver receiver;
  std::unique_ptr<std::byte[]> tail;  // a half-received FPDU
  std::size_t tail_size = 0;
  std::vector<std::byte> waiting;  // a ULPDU that awaits a receive; the tail is what came behind it
  bool first_seen = false;
  std::atomic<bool> discard{false};  // nothing that comes in is looked at any more
  Counter octets_received, fpdus_received, receives, peer_writes, peer_reads, peer_atomics;

  // The transmit half's.
  mpa::Framer framer;
  rdmap::Transmitter transmitter;
  std::size_t unsent_from = 0;
  std::error_code send_error;  // not changed any more once sending_lost_ is set
  std::uint64_t accepted = 0;  // octets that the stream has taken
  /// The first request that was posted too early to be refused for what the peers have agreed on.
  std::optional<std::uint32_t> unagreed;
  Counter octets_sent, fpdus_sent, sends, writes, reads_done, immediates, atomics;

  // The engine's, as it looks at time-outs.
  struct Progress {
    std::uint64_t sent = 0, unacknowledged = 0, received = 0;
    bool operator==(const Progress&) const = default;
  };
  Progress progress;         // at the last look
  Clock::rep idle_from = 0;  // since when there has been none; 0: not looked at yet
  Clock::rep next_look = 0;
  std::chrono::milliseconds look_pause{0};

  /// Whether both peers have agreed to such an operation: EINVAL for what awaits a response with an
  /// ORD of 0, ENOTSUP for RFC 7306's where it has not been agreed on.
  [[nodiscard]] std::errc check_agreed(rdmap::Operation operation) const;
  /// Whether what has just come in is the peer's RTR indication: no operation of its program.
  [[nodiscard]] bool at_rtr() const;
  [[nodiscard]] std::size_t unsent_size() const { return unsent.size() - unsent_from; }
  void drop_unsent();
  /// Keeps what was just sent until the device has released it.
  void hold(Scratch& scratch);
  void let_go(std::uint64_t released);
  void count(rdmap::Operation operation);
};

/// A work request that sends nothing: what to do when its turn comes.
struct SoftQp::LocalWork {
  Opcode opcode = Opcode::kInvalidate;
  Stag invalidate;
  BindWr bind;
  RegisterWr registration;
};

/// Whether the first message of a connection is to be the peer's RTR indication.
bool awaits_rtr(const RdmaMode& mode);

/// A Terminate as the program is told of it.
TerminateInfo terminate_info(const rdmap::Terminate& message);

}  // namespace iwarp::verbs::soft
