#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "iwarp/connection/kept_octets.hpp"
#include "iwarp/mpa/deframer.hpp"
#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::connection {

/// A point of time as the owner counts it.
using Time = std::chrono::steady_clock::time_point;

/// What the owner allows while octets are taken.
struct InboundLimits {
  Time now{};  ///< The time.
  /// Whether there is room for what comes behind a message that waits for a receive; without, its
  /// coming is a fault.
  bool may_wait = true;
};

/// Why Inbound stopped taking octets.
enum class InboundStop : std::uint8_t {
  kNeedsMore,      ///< What is left is the beginning of an FPDU, or nothing.
  kEventsFull,     ///< There may be more: to be called again with what is left.
  kAwaitsReceive,  ///< A message waits for a receive; what is behind it is not looked at.
  kEnded,          ///< By a fault, by the peer's Terminate or by stop(): what comes is dropped.
};

/// What a run of FPDUs has brought about, in the room of the owner. Placement (RFC 5041 §5.3) is no
/// event: Writes and Read Responses are in memory.
class InboundEvents {
 public:
  /// The most deliveries of one call.
  static constexpr std::size_t kMostDeliveries = 64;

  /// Forgets everything.
  void clear() {
    fault.reset();
    faulty_read.reset();
    terminate.reset();
    terminated_read.reset();
    first = for_outbound = false;
    count_ = 0;
  }
  /// Sends and Immediate Data Messages that were delivered, in order.
  [[nodiscard]] std::span<const rdmap::SendDelivered> deliveries() const {
    return std::span(deliveries_).first(count_);
  }
  /// Whether no more of them fit.
  [[nodiscard]] bool full() const { return count_ == kMostDeliveries; }
  /// Adds one. Precondition: !full().
  void add(const rdmap::SendDelivered& delivery) { deliveries_[count_++] = delivery; }

  /// Why the connection has to end, behind the deliveries; the peer is to be told.
  std::optional<rdmap::Fault> fault;
  /// The Read or Atomic Operation of this end that the fault is about, if it is the sink that
  /// failed: its place among those that await a response.
  std::optional<std::uint32_t> faulty_read;
  /// The peer has ended the connection, behind the deliveries.
  std::optional<rdmap::Terminate> terminate;
  /// The Read or Atomic Operation of this end that it is about, if it says.
  std::optional<std::uint32_t> terminated_read;
  /// The first FPDU of the connection was among them.
  bool first = false;
  /// The outbound half has something to do: a response is owed, or one of ours has come.
  bool for_outbound = false;

 private:
  std::array<rdmap::SendDelivered, kMostDeliveries> deliveries_;
  std::size_t count_ = 0;
};

/// What Inbound did with octets.
struct Taken {
  std::size_t octets = 0;                     ///< So many at the front are done with.
  InboundStop why = InboundStop::kNeedsMore;  ///< Why it took no more.
};

/// What has come in since the beginning, with the octets that are kept. The RTR indication is no
/// message of the peer's program.
struct InboundCounters {
  std::uint64_t octets = 0;  ///< Of the stream.
  std::uint64_t fpdus = 0;
  std::uint64_t receives = 0, peer_writes = 0, peer_reads = 0, peer_atomics = 0;
};

/// The beginning of an FPDU whose rest has not come.
struct HalfFpdu {
  Time since{};            ///< When its first octet was kept; what trickles in renews nothing.
  std::size_t octets = 0;  ///< How much of it there is.
};

/// The receiving half of a connection: octets of the TCP stream in, memory and events out. Nothing
/// of an FPDU is placed before its CRC has been verified (RFC 5044 §6), and nothing after a fault
/// (RFC 5041 §7.1).
///
/// The owner brings octets in pieces of any size, which make no difference to events and memory.
/// take() takes whole FPDUs from their front; what is left the owner brings again with more behind
/// it. Before it turns to another connection it gives what is left to keep(), and when octets come
/// again it begins with move_kept(), as the buffer is the thread's. Not thread-safe: one thread at
/// a time.
class Inbound {
 public:
  /// How it receives.
  struct Settings {
    mpa::Crc crc = mpa::Crc::kOn;
    mpa::Markers markers = mpa::Markers::kOff;
    rdmap::FirstMessage first = rdmap::FirstMessage::kOrdinary;
    rdmap::Extensions extensions = rdmap::Extensions::kRfc7306;
    std::uint32_t ord = 0;  ///< Of this end.
    /// How long a message waits for a receive; 0: its coming is a fault (RFC 5041 §7.1).
    std::chrono::milliseconds receive_wait{0};
  };
  /// Begins at the first octet of Full Operation.
  Inbound(const rdmap::Receiver::Parts& parts, const Settings& settings);

  // Octets.
  /// Takes the whole FPDUs at the front of `octets`, which hold the stream from where the octets
  /// taken before ended, and may be changed. Adds what they brought about to `events`.
  /// Precondition: no message awaits a receive.
  Taken take(MutableBytes octets, const InboundLimits& limits, InboundEvents& events);
  /// What is below has come upon a bad FPDU and kept it: a fault, as if take() had found it. Behind
  /// the end there is none. Precondition: no message awaits a receive.
  void refuse(mpa::Error error, InboundEvents& events);
  /// Offers the message that awaits a receive once more. False if it waits on. Precondition: one
  /// waits.
  bool offer_waiting(const InboundLimits& limits, InboundEvents& events);
  /// The same, if one waits, and goes on with the octets that are kept, where they are.
  InboundStop resume(const InboundLimits& limits, InboundEvents& events);
  /// Keeps octets that were not taken: `rest` and `behind` it. They are dropped if this half has
  /// ended. Precondition: none are kept, or these are what is left of them. Throws std::bad_alloc.
  void keep(ConstBytes rest, ConstBytes behind, Time now);
  /// How many octets are kept.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }
  /// Moves them to `to`: the owner brings them to take() with more behind.
  void move_kept(std::byte* to);
  /// The FPDU that has come in part; none if what is kept lies behind a message that waits.
  [[nodiscard]] std::optional<HalfFpdu> half_fpdu() const;

  // Messages.
  /// Whether a message waits for a receive.
  [[nodiscard]] bool awaits_receive() const { return !waiting_.empty(); }
  /// When it has waited long enough: at the next resume() from then on its coming is a fault. None
  /// if no message waits.
  [[nodiscard]] std::optional<Time> deadline() const;
  /// Takes nothing any more, and gives the receive back that a half-received message had taken, if
  /// any; once.
  std::optional<rdmap::ReceiveBuffer> stop();
  /// Whether this half has ended: what comes is dropped.
  [[nodiscard]] bool ended() const { return ended_; }

  /// What has come in.
  [[nodiscard]] InboundCounters counters() const;

 private:
  void on_ulpdu(ConstBytes ulpdu, const InboundLimits& limits, InboundEvents& events);
  void on_event(const rdmap::Event& event, InboundEvents& events);
  void on_fault(const rdmap::Fault& fault, InboundEvents& events);
  void on_terminate(const rdmap::Terminate& message, InboundEvents& events);
  void end();
  void note_kept(Time now);
  [[nodiscard]] std::optional<std::uint32_t> named_request(const rdmap::Terminate& message) const;
  [[nodiscard]] bool at_rtr() const;

  rdmap::OutstandingRequests& reads_;
  const std::uint32_t ord_;
  const bool expects_rtr_;
  const std::chrono::milliseconds receive_wait_;
  mpa::Deframer deframer_;
  rdmap::Receiver receiver_;
  KeptOctets kept_;
  std::size_t moved_ = 0;           // octets that were kept and that the owner brings again
  std::vector<std::byte> waiting_;  // a ULPDU that awaits a receive; what is kept came behind it
  bool ended_ = false;
  Time waits_until_{};
  bool half_ = false;      // a part of an FPDU has come, kept here or not
  bool progress_ = false;  // a whole FPDU has come since the last keep()
  Time half_since_{};
  InboundCounters counters_;  // octets: only those that were taken
};

}  // namespace iwarp::connection
