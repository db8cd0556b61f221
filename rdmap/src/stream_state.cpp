#include "iwarp/rdmap/stream_state.hpp"

namespace iwarp::rdmap {
namespace {

using S = StreamState;
using E = StreamEvent;
using A = StreamAction;

struct Row {
  S state;
  E event;
  StreamTransition transition;
};

// RFC 5040 §6.2 and RFC 5041 §6.2. A FIN that came early is announced again in kDraining.
constexpr Row kTable[] = {
    {S::kIdle, E::kEnterRdmaMode, {S::kOperational, A::kNone}},
    {S::kIdle, E::kLocalDisconnect, {S::kClosed, A::kClose}},
    {S::kIdle, E::kLost, {S::kClosed, A::kAbort}},

    {S::kOperational, E::kLocalDisconnect, {S::kClosing, A::kNone}},
    {S::kOperational, E::kPeerFin, {S::kClosing, A::kNone}},
    {S::kOperational, E::kFault, {S::kTerminating, A::kNone}},
    {S::kOperational, E::kPeerTerminate, {S::kTerminating, A::kNone}},
    {S::kOperational, E::kLost, {S::kClosed, A::kAbort}},

    {S::kClosing, E::kAllSent, {S::kDraining, A::kShutdownSend}},
    {S::kClosing, E::kFault, {S::kTerminating, A::kNone}},
    {S::kClosing, E::kPeerTerminate, {S::kTerminating, A::kNone}},
    {S::kClosing, E::kLost, {S::kClosed, A::kAbort}},

    {S::kTerminating, E::kAllSent, {S::kDraining, A::kShutdownSend}},
    {S::kTerminating, E::kLost, {S::kClosed, A::kAbort}},

    {S::kDraining, E::kPeerFin, {S::kClosed, A::kClose}},
    {S::kDraining, E::kLost, {S::kClosed, A::kAbort}},
};

}  // namespace

StreamTransition transition(StreamState state, StreamEvent event) {
  for (const Row& row : kTable) {
    if (row.state == state && row.event == event) return row.transition;
  }
  return {state, A::kNone};
}

const char* to_string(StreamState state) {
  switch (state) {
    case S::kIdle: return "idle";
    case S::kOperational: return "operational";
    case S::kClosing: return "closing";
    case S::kTerminating: return "terminating";
    case S::kDraining: return "draining";
    case S::kClosed: return "closed";
  }
  return "unknown";
}

}  // namespace iwarp::rdmap
