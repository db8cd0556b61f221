#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "iwarp/base/rtr.hpp"
#include "iwarp/ddp/header.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/outstanding_requests.hpp"
#include "iwarp/rdmap/response_queue.hpp"
#include "iwarp/rdmap/send_queue.hpp"
#include "iwarp/rdmap/terminate.hpp"

namespace iwarp::rdmap {

/// Where the payload of a segment lies.
enum class Source : std::uint8_t { kNone, kRequest, kResponse, kTerminate };

/// One DDP Segment to be sent: its header (with the whole message, if it is one of RDMAP's own that
/// fit) and which octets of what follow.
struct OutgoingSegment {
  /// The first `header_size` octets hold.
  std::array<std::byte, ddp::kUntaggedHeaderSize + AtomicRequest::kSize> header{};
  std::uint8_t header_size = 0;     ///< Octets.
  Source source = Source::kNone;    ///< Where the payload is.
  ddp::Last last = ddp::Last::kNo;  ///< Whether it ends its message.
  bool closes_request = false;      ///< The last segment of a request of the SendQueue.
  std::uint32_t position = 0;       ///< In the SendQueue or ResponseQueue.
  std::uint32_t offset = 0;  ///< Of the payload, in octets from the beginning of the message.
  std::uint32_t length = 0;  ///< Octets of the payload.

  /// Whether its message has a number (MSN) in an untagged queue.
  [[nodiscard]] bool is_numbered() const { return header_size != ddp::kTaggedHeaderSize; }
  /// The octets in front of the payload.
  [[nodiscard]] ConstBytes header_bytes() const { return ConstBytes(header).first(header_size); }
};

using iwarp::Rtr;

/// The sending half of an RDMAP Stream: decides which segment leaves next. Messages leave in the
/// order they were submitted, whole; responses and requests take turns, message by message; a Read
/// or Atomic Operation beyond ORD and a fence hold back what is behind them (RFC 5040 §5.5, §6.1).
/// Files: transmitter.cpp the order, transmitter_messages.cpp the segments of each message.
///
/// Planning is free of consequences: a caller that could not send what next() gave goes back to an
/// earlier Cursor. One thread at a time.
class Transmitter {
 public:
  /// How far the stream has been planned. Copying one is taking a snapshot.
  struct Cursor {
    std::uint32_t request = 0;          ///< In the SendQueue.
    std::uint32_t request_offset = 0;   ///< Octets of it that have left.
    std::uint32_t response = 0;         ///< In the ResponseQueue.
    std::uint32_t response_offset = 0;  ///< Octets of it that have left.
    std::uint32_t reads = 0;            ///< Requests that await a response issued, RTR included.
    std::array<Msn, kQueueCount> msn{Msn{1}, Msn{1}, Msn{1}, Msn{1}};  ///< The next of each queue.
    Rtr rtr = Rtr::kNone;                                              ///< Still to be sent.
    bool request_open = false;   ///< A request is partly sent.
    bool response_open = false;  ///< A response is partly sent.
    bool response_turn = false;  ///< A response is next, if both wait.
    bool write_done = false;     ///< Of a Write with immediate the first half has left.
    bool terminated = false;     ///< The Terminate has left.
  };
  /// What a transmitter works with; it owns none of it.
  struct Parts {
    SendQueue& requests;         ///< What was submitted.
    ResponseQueue& responses;    ///< What is owed to the peer.
    OutstandingRequests& reads;  ///< What the peer owes.
  };
  /// Begins with the RTR indication, if one is to be sent.
  Transmitter(const Parts& parts, Rtr rtr);

  /// How far it has planned.
  [[nodiscard]] const Cursor& cursor() const { return cursor_; }
  /// Plans on from an earlier cursor.
  void rewind(const Cursor& cursor) { cursor_ = cursor; }

  /// Whether next() has a segment: whether anything may leave now.
  [[nodiscard]] bool ready() const;
  /// The next segment of at most `mulpdu` octets; none if there is nothing that may leave now.
  /// Precondition: mulpdu >= 128, MPA's least, into which the control messages fit whole.
  std::optional<OutgoingSegment> next(std::size_t mulpdu);

  /// How many segments of the same message follow `segment`, which next() has just given, and
  /// differ from it in nothing but where they begin. The last of the message is none of them.
  [[nodiscard]] std::uint32_t alike(const OutgoingSegment& segment) const;
  /// Plans so many of them, as next() would. Precondition: there are.
  void repeat(const OutgoingSegment& segment, std::uint32_t count) {
    cursor_ = behind(cursor_, segment.source, count * segment.length);
  }
  /// Where planning stands `octets` behind `cursor`, in the middle of the same message, whose
  /// payload `source` names.
  static Cursor behind(Cursor cursor, Source source, std::uint32_t octets);

  /// Whether a row may begin with `segment`, which next() has just given: it is a Send or a Write
  /// as a whole, and nothing else is to leave before the next request.
  [[nodiscard]] bool begins_row(const OutgoingSegment& segment) const;
  /// Makes `segment`, which is of a row, that of the message right behind it, if that goes on with
  /// the row: it differs in nothing but where its octets lie and where they are placed, so that it
  /// is one segment, too. False if it does not, or there is none.
  bool follow(OutgoingSegment& segment) const;
  /// Plans so many messages that go on with the row, as next() would. Precondition: there are.
  void repeat_messages(const OutgoingSegment& segment, std::uint32_t count) {
    cursor_ = behind_messages(cursor_, segment.is_numbered(), count);
  }
  /// Where planning stands behind `count` such messages, the first of which `cursor` is in front
  /// of.
  static Cursor behind_messages(Cursor cursor, bool numbered, std::uint32_t count);

  /// Whether the next request is a kLocal whose turn has come: everything before it has been
  /// planned, and what a fence waits for is there. Nothing behind it is planned before
  /// skip_local().
  [[nodiscard]] bool local_due() const;
  /// Precondition: local_due(), and what was planned has been sent.
  void skip_local() { ++cursor_.request; }

  /// From now on the only thing to leave is this Terminate; the first call counts (RFC 5040 §5.4).
  void terminate(const Terminate& message);
  /// Whether there is a Terminate to be sent, or sent.
  [[nodiscard]] bool terminating() const { return terminate_size_ != 0; }
  /// The Terminate Message, without DDP's header.
  [[nodiscard]] ConstBytes terminate_bytes() const {
    return ConstBytes(terminate_).first(terminate_size_);
  }

 private:
  [[nodiscard]] bool response_ready() const;
  [[nodiscard]] bool request_ready() const;
  [[nodiscard]] bool fence_holds(const Request& request) const;
  OutgoingSegment next_terminate();
  OutgoingSegment next_rtr();
  OutgoingSegment next_request(std::size_t mulpdu);
  OutgoingSegment next_read_request();
  OutgoingSegment next_atomic_request();
  OutgoingSegment next_write_immediate(std::size_t mulpdu);
  OutgoingSegment next_immediate();
  OutgoingSegment next_send(std::size_t mulpdu);
  OutgoingSegment next_write(std::size_t mulpdu);
  OutgoingSegment next_response(std::size_t mulpdu);
  OutgoingSegment next_read_response(std::size_t mulpdu);
  OutgoingSegment next_atomic_response();
  std::uint32_t issue(std::uint32_t position, Owed owed);
  template <typename Message>
  void put_message(OutgoingSegment& segment, Opcode opcode, const Message& message);
  void advance_request(OutgoingSegment& segment, std::uint32_t total);
  void close_request(OutgoingSegment& segment);
  void close_response();
  Msn take_msn(QueueNumber qn);

  Parts parts_;
  Cursor cursor_;
  std::array<std::byte, Terminate::kMaxSize> terminate_{};
  std::size_t terminate_size_ = 0;
};

}  // namespace iwarp::rdmap
