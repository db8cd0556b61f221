#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "iwarp/ddp/memory.hpp"
#include "iwarp/ddp/untagged_queue.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/outstanding_requests.hpp"
#include "iwarp/rdmap/response_queue.hpp"
#include "iwarp/rdmap/terminate.hpp"

namespace iwarp::rdmap {

/// A posted receive, as the protocol sees it.
struct ReceiveBuffer {
  std::uint64_t cookie = 0;        ///< The owner's own.
  std::span<const ddp::Sge> sges;  ///< Where the message goes, in order.
  std::uint64_t length = 0;        ///< Octets, all together.
};

/// Where the Receiver takes the buffer for a Send from when its first segment comes.
class ReceiveSource {
 public:
  virtual ~ReceiveSource() = default;
  /// The oldest posted receive; none if none is posted. Its `sges` stay valid until the message has
  /// been delivered or abandoned.
  virtual std::optional<ReceiveBuffer> take() = 0;
  /// The message that took the last one is whole: its `sges` are not needed any more.
  virtual void finish() {}
};

/// What a segment brought about. Most bring about nothing that the owner must hear of.
struct Placed {};       ///< Part of a message.
struct PlacedWrite {};  ///< The last segment of a Write.
/// A Send or an Immediate Data Message. `length` are the octets that the Send placed in the
/// receive; of Immediate Data those of the Write that came right before it, if one did.
struct SendDelivered {
  std::uint64_t cookie = 0;                ///< Of the ReceiveBuffer that it took.
  std::uint32_t length = 0;                ///< Octets.
  bool solicited = false;                  ///< Whether the peer asked for a solicited event.
  std::optional<Stag> invalidated;         ///< The STag of ours that it ended, if any.
  std::optional<std::uint64_t> immediate;  ///< What Immediate Data said, if it was that.
};
struct ReadRequestDelivered {};    ///< It waits in the ResponseQueue.
struct AtomicRequestDelivered {};  ///< It is done; its response waits in the ResponseQueue.
struct RequestFinished {};         ///< OutstandingRequests has one less.
struct ReadyToReceive {};          ///< The peer's RTR indication by a Send (RFC 6581 §9.2).
struct AwaitsReceive {};           ///< Nothing was taken: see NoReceive::kWait.
/// One of these.
using Event =
    std::variant<Placed, PlacedWrite, SendDelivered, ReadRequestDelivered, AtomicRequestDelivered,
                 RequestFinished, ReadyToReceive, AwaitsReceive, Terminate>;

/// Why the stream failed: the peer, or memory of ours, broke a rule.
struct Fault {
  Terminate terminate;                     ///< What the peer is told.
  std::optional<ddp::Error> local_memory;  ///< Set if it was our own buffer that failed,
  bool in_sink = false;                    ///< namely the sink of the response that is due.
  bool exceeds_receive = false;            ///< The Send is longer than the receive that it took.
  MemoryFault memory{};                    ///< Set if it was memory that is not there any more.
};

/// Whether the first message may be an RTR indication by an empty Send.
enum class FirstMessage : bool { kOrdinary, kMayBeRtrSend };

/// What becomes of a Send or an Immediate Data Message for which no receive is posted: a fault (RFC
/// 5041 §7.1), or AwaitsReceive, after which the same ULPDU is offered again.
enum class NoReceive : bool { kFault, kWait };

/// The receiving half of an RDMAP Stream: validates and places each DDP Segment, and delivers
/// messages in order (RFC 5040 §5, §7.2; RFC 7306 §8.2). Atomic Operations are performed here, on
/// delivery. Files: receiver.cpp dispatch and faults, receiver_tagged.cpp and receiver_untagged.cpp
/// the buffer models, receiver_deliver.cpp what a whole message means. After a fault or a Terminate
/// it drops whatever follows (RFC 5041 §7.1). One thread at a time.
class Receiver {
 public:
  /// What a receiver works with; it owns none of it.
  struct Parts {
    ddp::StagTable& stags;       ///< The memory that tagged messages may reach.
    ddp::Accessor accessor;      ///< This stream.
    ReceiveSource& receives;     ///< For Sends and Immediate Data.
    OutstandingRequests& reads;  ///< What the peer owes.
    ResponseQueue& responses;    ///< What is owed to the peer.
    /// What the stream allows its peer, whatever a buffer does; may change. Null: everything.
    const std::atomic<ddp::Rights>* allowed = nullptr;
  };
  /// Begins at the first message of a stream.
  Receiver(const Parts& parts, FirstMessage first, Extensions extensions = Extensions::kRfc7306);

  /// Takes one ULPDU that MPA has verified, within a Turn.
  Result<Event, Fault> on_ulpdu(ConstBytes ulpdu, NoReceive no_receive = NoReceive::kFault);

  /// As long as it lives ULPDUs may come; what they have reached stays pinned meanwhile. It ends
  /// before the thread waits for anything, since a deregistration may be waiting for it.
  class Turn {
   public:
    explicit Turn(Receiver& receiver) : receiver_(receiver) {}  ///< Begins.
    ~Turn() { receiver_.buffers_.let_go(); }                    ///< Lets go.
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Receiver& receiver_;
  };

  /// The receive that a half-received Send had taken, if any; the owner gets it back once.
  std::optional<ReceiveBuffer> abandon();

 private:
  using Refusal = std::variant<Error, ddp::Error>;
  using Step = Result<Event, Refusal>;

  // The message that an untagged queue is receiving, as its first segment announced it.
  struct OpenMessage {
    Opcode opcode = Opcode::kSend;
    Stag invalidate;
  };

  Step dispatch(ConstBytes ulpdu, NoReceive no_receive);
  /// Checks and holds what the peer names.
  Result<std::byte*, ddp::Error> reach_for_peer(Stag stag, ddp::Rights wanted, TaggedOffset to,
                                                std::uint64_t length);
  [[nodiscard]] std::optional<Error> check_control(std::uint8_t rsvd_ulp, BufferModel model) const;

  Step on_tagged(const ddp::TaggedSegment& segment);
  Step on_write(const ddp::TaggedSegment& segment);
  Step on_read_response(const ddp::TaggedSegment& segment);
  std::optional<Refusal> place_response(const OutstandingRequest& read,
                                        const ddp::TaggedSegment& segment);

  Step on_untagged(const ddp::UntaggedSegment& segment, NoReceive no_receive);
  std::optional<Refusal> check_untagged(const ddp::UntaggedSegment& segment);
  std::optional<ddp::Error> open_message(const ddp::UntaggedSegment& segment);
  /// The octets that the buffer of a message has; nothing if there is no buffer for it.
  std::optional<std::uint64_t> take_buffer(Opcode opcode);
  void finish_receive();
  Step place_untagged(const ddp::UntaggedSegment& segment);
  std::optional<Refusal> place_payload(QueueNumber qn, std::size_t offset, ConstBytes payload);
  [[nodiscard]] bool is_rtr_send(const ddp::UntaggedSegment& segment) const;

  Step deliver(QueueNumber qn, std::uint32_t length);
  Step deliver_send(const OpenMessage& message, std::uint32_t length);
  Step deliver_immediate(const OpenMessage& message, std::uint32_t length);
  Step deliver_read_request(ConstBytes octets);
  Step deliver_atomic_request(ConstBytes octets);
  Step deliver_atomic_response(ConstBytes octets);
  Step deliver_terminate(ConstBytes octets);
  ddp::UntaggedQueue& queue(QueueNumber qn) { return queues_[qn.value()]; }
  [[nodiscard]] bool fills_receive(QueueNumber qn) const;
  Fault fault(const Refusal& refusal, ConstBytes ulpdu);
  Refusal buffer_failed(const ddp::PlacementError& error);
  Refusal sink_failed(const ddp::PlacementError& error);

  // RDMAP's own messages may come in several segments, too. Terminates are the longest.
  static constexpr std::size_t kControlRoom = 128;
  using ControlRoom = std::array<std::byte, kControlRoom>;

  Parts parts_;
  ddp::Hold buffers_;
  Extensions extensions_;
  bool first_may_be_rtr_;
  bool ended_ = false;
  std::array<ddp::UntaggedQueue, kQueueCount> queues_;
  std::array<OpenMessage, kQueueCount> open_{};
  std::array<ControlRoom, kQueueCount> control_{};
  std::optional<ReceiveBuffer> open_receive_;
  std::uint32_t read_received_ = 0;    // octets of the Read Response that is due
  std::uint32_t write_received_ = 0;   // octets of the Write that is coming in
  std::uint32_t preceding_write_ = 0;  // octets of the Write that was the last message, if it was
  std::optional<ddp::Error> local_memory_;
  bool in_sink_ = false;
  bool exceeds_receive_ = false;
  MemoryFault memory_fault_;
  std::optional<ReadRequest> refused_read_;
};

}  // namespace iwarp::rdmap
