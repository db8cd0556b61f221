#include "iwarp/rdmap/stream_state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iwarp::rdmap {
namespace {

using S = StreamState;
using E = StreamEvent;
using A = StreamAction;

constexpr S kStates[] = {S::kIdle,        S::kOperational, S::kClosing,
                         S::kTerminating, S::kDraining,    S::kClosed};
constexpr E kEvents[] = {E::kEnterRdmaMode, E::kLocalDisconnect, E::kPeerFin, E::kFault,
                         E::kPeerTerminate, E::kAllSent,         E::kLost};

static_assert(std::size(kStates) == static_cast<std::size_t>(S::kClosed) + 1);
static_assert(std::size(kEvents) == static_cast<std::size_t>(E::kLost) + 1);

// The whole grid: a row per state, a column per event, in the order of the lists above.
constexpr StreamTransition kGrid[std::size(kStates)][std::size(kEvents)] = {
    // kIdle
    {{S::kOperational, A::kNone},
     {S::kClosed, A::kClose},
     {S::kIdle, A::kNone},
     {S::kIdle, A::kNone},
     {S::kIdle, A::kNone},
     {S::kIdle, A::kNone},
     {S::kClosed, A::kAbort}},
    // kOperational
    {{S::kOperational, A::kNone},
     {S::kClosing, A::kNone},
     {S::kClosing, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kOperational, A::kNone},
     {S::kClosed, A::kAbort}},
    // kClosing
    {{S::kClosing, A::kNone},
     {S::kClosing, A::kNone},
     {S::kClosing, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kDraining, A::kShutdownSend},
     {S::kClosed, A::kAbort}},
    // kTerminating
    {{S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kTerminating, A::kNone},
     {S::kDraining, A::kShutdownSend},
     {S::kClosed, A::kAbort}},
    // kDraining
    {{S::kDraining, A::kNone},
     {S::kDraining, A::kNone},
     {S::kClosed, A::kClose},
     {S::kDraining, A::kNone},
     {S::kDraining, A::kNone},
     {S::kDraining, A::kNone},
     {S::kClosed, A::kAbort}},
    // kClosed
    {{S::kClosed, A::kNone},
     {S::kClosed, A::kNone},
     {S::kClosed, A::kNone},
     {S::kClosed, A::kNone},
     {S::kClosed, A::kNone},
     {S::kClosed, A::kNone},
     {S::kClosed, A::kNone}},
};

TEST(StreamState, FollowsTheWholeGrid) {
  for (std::size_t s = 0; s < std::size(kStates); ++s) {
    for (std::size_t e = 0; e < std::size(kEvents); ++e) {
      const StreamTransition actual = transition(kStates[s], kEvents[e]);
      EXPECT_EQ(actual.next, kGrid[s][e].next) << to_string(kStates[s]) << ", event " << e;
      EXPECT_EQ(actual.action, kGrid[s][e].action) << to_string(kStates[s]) << ", event " << e;
    }
  }
}

TEST(StreamState, EndsInClosedFromEverywhereOnceTheConnectionIsLost) {
  for (const S state : kStates) EXPECT_EQ(transition(state, E::kLost).next, S::kClosed);
}

TEST(StreamState, NeverLeavesClosed) {
  for (const E event : kEvents) {
    EXPECT_EQ(transition(S::kClosed, event).next, S::kClosed);
    EXPECT_EQ(transition(S::kClosed, event).action, A::kNone);
  }
}

// What is sent goes out before the FIN, and the FIN goes out once.
TEST(StreamState, ShutsDownSendingOnlyOnTheWayIntoDraining) {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      const StreamTransition t = transition(state, event);
      const bool enters = t.next == S::kDraining && state != S::kDraining;
      EXPECT_EQ(t.action == A::kShutdownSend, enters);
    }
  }
}

TEST(StreamState, GoesRoundAGracefulEndStartedByEitherSide) {
  S state = S::kIdle;
  for (const E event : {E::kEnterRdmaMode, E::kLocalDisconnect, E::kAllSent, E::kPeerFin}) {
    state = transition(state, event).next;
  }
  EXPECT_EQ(state, S::kClosed);
  state = S::kOperational;
  for (const E event : {E::kPeerFin, E::kAllSent, E::kPeerFin}) {
    state = transition(state, event).next;
  }
  EXPECT_EQ(state, S::kClosed);
}

TEST(StreamState, HasAName) {
  std::set<std::string> names;
  for (const S state : kStates) names.insert(to_string(state));
  EXPECT_EQ(names.size(), std::size(kStates));
  EXPECT_STREQ(to_string(static_cast<S>(99)), "unknown");
}

}  // namespace
}  // namespace iwarp::rdmap
