#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "iwarp/ddp/memory.hpp"
#include "iwarp/ddp/untagged_queue.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/outstanding_reads.hpp"
#include "iwarp/rdmap/response_queue.hpp"
#include "iwarp/rdmap/terminate.hpp"

namespace iwarp::rdmap {

/// A posted receive, as the protocol sees it.
struct ReceiveBuffer {
  std::uint64_t cookie = 0;  ///< The owner's own.
  std::span<const ddp::Sge> sges;
  std::uint64_t length = 0;
};

/// Where the Receiver takes the buffer for a Send from when its first segment comes.
class ReceiveSource {
 public:
  virtual ~ReceiveSource() = default;
  /// The oldest posted receive; none if none is posted. Its `sges` stay valid until the message has
  /// been delivered or abandoned.
  virtual std::optional<ReceiveBuffer> take() = 0;
};

/// What a segment brought about. Most bring about nothing that anybody must hear of.
struct Placed {};
struct PlacedWrite {};  ///< The last segment of a Write.
struct SendDelivered {
  std::uint64_t cookie = 0;
  std::uint32_t length = 0;
  bool solicited = false;
  std::optional<Stag> invalidated;
};
struct ReadRequestDelivered {};  ///< It waits in the ResponseQueue.
struct ReadFinished {};          ///< OutstandingReads has one less.
struct ReadyToReceive {};        ///< The peer's RTR indication by a Send (RFC 6581 §9.2).
using Event = std::variant<Placed, PlacedWrite, SendDelivered, ReadRequestDelivered, ReadFinished,
                           ReadyToReceive, Terminate>;

/// Why the stream failed: the peer, or memory of ours, broke a rule.
struct Fault {
  Terminate terminate;                     ///< What the peer is told.
  std::optional<ddp::Error> local_memory;  ///< Set if it was our own buffer that failed,
  bool in_read_sink = false;               ///< namely the sink of the Read that is due.
};

/// Whether the first message may be an RTR indication by an empty Send.
enum class FirstMessage : bool { kOrdinary, kMayBeRtrSend };

/// The receiving half of an RDMAP Stream: validates and places each DDP Segment, and delivers
/// messages in order (RFC 5040 §5, §7.2). After a fault or a Terminate it drops whatever follows
/// (RFC 5041 §7.1). One thread at a time.
class Receiver {
 public:
  struct Parts {
    ddp::StagTable& stags;
    ddp::ProtectionDomainId pd;
    ReceiveSource& receives;
    OutstandingReads& reads;
    ResponseQueue& responses;
  };
  Receiver(const Parts& parts, FirstMessage first);

  /// Takes one ULPDU that MPA has verified.
  Result<Event, Fault> on_ulpdu(ConstBytes ulpdu);

  /// The receive that a half-received Send had taken, if any; the owner gets it back once.
  std::optional<ReceiveBuffer> abandon();

 private:
  using Refusal = std::variant<Error, ddp::Error>;
  using Step = Result<Event, Refusal>;

  Step dispatch(ConstBytes ulpdu);
  Step on_tagged(const ddp::TaggedSegment& segment);
  Step on_write(const ddp::TaggedSegment& segment);
  Step on_read_response(const ddp::TaggedSegment& segment);
  Step on_untagged(const ddp::UntaggedSegment& segment);
  std::optional<ddp::Error> open_message(const ddp::UntaggedSegment& segment);
  Step place_untagged(const ddp::UntaggedSegment& segment);
  Step deliver(const ddp::UntaggedSegment& segment, std::uint32_t length);
  Step deliver_send(const ddp::UntaggedHeader& header, std::uint32_t length);
  Step deliver_read_request(std::uint32_t length);
  Step deliver_terminate(std::uint32_t length);
  [[nodiscard]] bool is_rtr_send(const ddp::UntaggedSegment& segment) const;
  ddp::UntaggedQueue& queue(QueueNumber qn) { return queues_[qn.value()]; }
  Fault fault(const Refusal& refusal, ConstBytes ulpdu);

  // Room for Read Requests and Terminates, which may come in several segments.
  static constexpr std::size_t kTerminateRoom = 128;

  Parts parts_;
  bool first_may_be_rtr_;
  bool ended_ = false;
  std::array<ddp::UntaggedQueue, kQueueCount> queues_;
  std::optional<ReceiveBuffer> open_receive_;
  std::uint32_t read_received_ = 0;  // octets of the Read Response that is due
  std::optional<ddp::Error> local_memory_;
  bool in_read_sink_ = false;
  std::optional<ReadRequest> refused_read_;
  std::array<std::byte, ReadRequest::kSize> read_request_{};
  std::array<std::byte, kTerminateRoom> terminate_{};
};

}  // namespace iwarp::rdmap
