#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

/// The life of a connection: one table (RFC 5040 §6.2, RFC 5041 §6.2, RFC 5044 §7.1.2).
namespace iwarp::connection {

/// How far the RDMAP Stream has come.
enum class Course : std::uint8_t {
  kIdle,         ///< Not in RDMA mode yet.
  kOperational,  ///< Messages flow both ways.
  kClosing,      ///< Graceful end under way: what was submitted is still sent, then FIN.
  kTerminating,  ///< A Terminate leaves; nothing that comes in is looked at.
  kDraining,     ///< The FIN of this end is out; acknowledgements and the peer's FIN are awaited.
  kClosed,       ///< Over.
};

/// What comes in.
enum class Input : std::uint8_t {
  kOpen,      ///< It is read and looked at.
  kStopped,   ///< It is read and dropped.
  kEnded,     ///< The peer has sent FIN, or the connection is lost: nothing is read any more.
  kPeerGone,  ///< The same, of which the program is not told yet (Program::kUnaware).
};

/// What goes out.
enum class Output : std::uint8_t {
  kOpen,
  kHeld,  ///< A responder sends nothing before the first FPDU of its peer (RFC 5044 §7.1.2).
  kLost,  ///< TCP takes nothing any more; what had come before is still read.
};

/// What the program wants with the connection.
enum class Program : std::uint8_t {
  kStays,
  /// As kStays, for a queue pair without a connection manager: as on InfiniBand, it does not hear
  /// at once that its peer has gone. Its receives stay posted, and what it sends fails when it has
  /// had no answer for a while. Programs count on that: the ends of ibv_srq_pingpong post more than
  /// the other one waits for, and would take a failure that comes at once for one of what they are
  /// still about to receive.
  kUnaware,
  kEnds,  ///< It has asked for a graceful end, and submits nothing more.
  kGone,  ///< It has given the connection up: what it submitted does not leave any more.
};

/// What can happen to a connection.
enum class LifeEvent : std::uint8_t {
  kEnterAsInitiator,  ///< RDMA mode begins.
  kEnterAsResponder,  ///< The same; the peer is to send first.
  kFirstFpdu,         ///< The peer has sent its first FPDU.
  kDisconnect,        ///< The program asks for a graceful end.
  kClose,             ///< The program gives up what it submitted; what has completed still arrives.
  kAbort,             ///< The program gives everything up.
  kFault,             ///< An error that the peer is to be told of by a Terminate.
  kPeerTerminate,     ///< The peer's Terminate.
  kInputStopped,      ///< The receiving half looks at nothing any more, and places nothing.
  kPeerFin,           ///< The peer has ended its half, between two FPDUs.
  kInputLost,         ///< The peer has ended it inside an FPDU, or the connection is gone.
  kOutputLost,        ///< TCP takes nothing any more.
  kPeerGoneForLong,   ///< The time in which the program is kept unaware is over.
  kAllSent,           ///< Everything that is to leave has been handed to TCP.
  kAllDelivered,      ///< The peer has acknowledged everything and has ended its half.
  kLost,              ///< A time-out, or a fault that the peer cannot be told of.
};

/// A state of the life. As one word an owner can change and read it atomically.
struct alignas(4) Life {
  Course course = Course::kIdle;
  Input input = Input::kOpen;
  Output output = Output::kOpen;
  Program program = Program::kStays;

  constexpr bool operator==(const Life&) const = default;
};

/// What the owner does upon an event.
enum class LifeAction : std::uint8_t {
  kNone,
  kSendFin,
  kClose,  ///< Everything has been said.
  kReset,  ///< Drop the TCP connection.
};

/// What an event leads to.
struct LifeStep {
  Life next;
  LifeAction action = LifeAction::kNone;
};

/// Whether nothing comes in any more.
constexpr bool input_has_ended(const Life& life) {
  return life.input == Input::kEnded || life.input == Input::kPeerGone;
}

/// What follows from an event. Total: an event that means nothing in a state changes nothing.
LifeStep step(const Life& life, LifeEvent event);

const char* to_string(Course course);      ///< As in messages.
const char* to_string(Input input);        ///< The same.
const char* to_string(Output output);      ///< The same.
const char* to_string(Program program);    ///< The same.
const char* to_string(LifeEvent event);    ///< The same.
const char* to_string(LifeAction action);  ///< The same.

}  // namespace iwarp::connection
