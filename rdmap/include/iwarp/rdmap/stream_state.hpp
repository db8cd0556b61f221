#pragma once

#include <cstdint>

namespace iwarp::rdmap {

/// The life of an RDMAP Stream (RFC 5040 §6).
enum class StreamState : std::uint8_t {
  kIdle,         ///< Not in RDMA mode yet.
  kOperational,  ///< Messages flow both ways.
  kClosing,      ///< Graceful end under way: what was submitted is still sent, then FIN.
  kTerminating,  ///< A Terminate leaves; nothing that comes in is looked at.
  kDraining,     ///< Our FIN is out; the peer's is awaited.
  kClosed,       ///< Over.
};

/// What can happen to a stream.
enum class StreamEvent : std::uint8_t {
  kEnterRdmaMode,
  kLocalDisconnect,  ///< The ULP ends the stream.
  kPeerFin,          ///< The peer ended its half between two FPDUs.
  kFault,            ///< An error that the peer is told of by a Terminate.
  kPeerTerminate,
  kAllSent,  ///< Everything that is to leave has been handed to TCP.
  kLost,     ///< TCP reset, a FIN inside an FPDU, or a time-out.
};

/// What the owner of the stream does upon a transition.
enum class StreamAction : std::uint8_t {
  kNone,
  kShutdownSend,  ///< Send FIN.
  kClose,         ///< Close; everything has been said.
  kAbort,         ///< Reset.
};

/// A cell of the table.
struct StreamTransition {
  StreamState next;     ///< Where the stream is then.
  StreamAction action;  ///< What is to be done.
};

/// The one table of the stream's life. Total: an event without meaning in a state changes nothing.
StreamTransition transition(StreamState state, StreamEvent event);

/// A name for a state, as in messages.
const char* to_string(StreamState state);

}  // namespace iwarp::rdmap
