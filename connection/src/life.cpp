#include "iwarp/connection/life.hpp"

#include <optional>

namespace iwarp::connection {
namespace {

using C = Course;
using I = Input;
using O = Output;
using P = Program;
using E = LifeEvent;
using A = LifeAction;

/// Some of the values of an enumeration; all, if none is named.
template <typename T>
class Some {
 public:
  constexpr Some() = default;
  constexpr Some(std::initializer_list<T> values) {
    for (const T value : values) bits_ |= bit(value);
  }
  [[nodiscard]] constexpr bool contains(T value) const {
    return bits_ == 0 || (bits_ & bit(value)) != 0;
  }

 private:
  static constexpr unsigned bit(T value) { return 1U << static_cast<unsigned>(value); }
  unsigned bits_ = 0;
};

/// The states in which a row holds.
struct When {
  Some<C> course{};
  Some<I> input{};
  Some<O> output{};
  Some<P> program{};
};

/// What becomes other.
struct Change {
  std::optional<C> course{};
  std::optional<I> input{};
  std::optional<O> output{};
  std::optional<P> program{};
};

struct Row {
  E event;
  When when;
  Change change;
  A action = A::kNone;
};

constexpr Some<C> kLive{C::kOperational, C::kClosing, C::kTerminating, C::kDraining};
constexpr Some<C> kBegun{C::kOperational, C::kClosing, C::kTerminating, C::kDraining, C::kClosed};
constexpr Some<I> kReading{I::kOpen, I::kStopped};
constexpr Some<I> kNoInput{I::kEnded, I::kPeerGone};

// The first row that holds counts. RFC 5040 §6.2 and RFC 5041 §6.2 but for what is said beside a
// row.
constexpr Row kTable[] = {
    {E::kEnterAsInitiator, {.course = {C::kIdle}}, {.course = C::kOperational}},
    {E::kEnterAsResponder,
     {.course = {C::kIdle}},
     {.course = C::kOperational, .output = O::kHeld}},  // RFC 5044 §7.1.2 rule 4
    {E::kFirstFpdu, {.output = {O::kHeld}}, {.output = O::kOpen}},

    // Without a way out, and with nothing to read, there is no graceful end.
    {E::kDisconnect, {.program = {P::kGone}}, {}},
    {E::kDisconnect,
     {.course = {C::kIdle}},
     {.course = C::kClosed, .program = P::kEnds},
     A::kClose},
    {E::kDisconnect,
     {.course = {C::kOperational}, .input = {I::kPeerGone}, .output = {O::kLost}},
     {.course = C::kClosed, .program = P::kEnds},
     A::kReset},
    {E::kDisconnect, {.course = {C::kOperational}}, {.course = C::kClosing, .program = P::kEnds}},
    {E::kDisconnect, {}, {.program = P::kEnds}},

    {E::kClose, {.course = {C::kIdle}}, {.course = C::kClosed, .program = P::kGone}, A::kClose},
    {E::kClose,
     {.course = {C::kOperational}, .input = {I::kPeerGone}, .output = {O::kLost}},
     {.course = C::kClosed, .program = P::kGone},
     A::kReset},
    {E::kClose, {.course = {C::kOperational}}, {.course = C::kClosing, .program = P::kGone}},
    {E::kClose, {}, {.program = P::kGone}},

    {E::kAbort, {.course = {C::kClosed}}, {.program = P::kGone}},
    {E::kAbort, {}, {.course = C::kClosed, .program = P::kGone}, A::kReset},

    // A Terminate needs a way out (RFC 5040 §5.4).
    {E::kFault,
     {.course = {C::kOperational, C::kClosing}, .output = {O::kLost}},
     {.course = C::kClosed},
     A::kReset},
    {E::kFault, {.course = {C::kOperational, C::kClosing}}, {.course = C::kTerminating}},
    {E::kPeerTerminate,
     {.course = {C::kOperational, C::kClosing}, .output = {O::kLost}},
     {.course = C::kClosed},
     A::kReset},
    {E::kPeerTerminate, {.course = {C::kOperational, C::kClosing}}, {.course = C::kTerminating}},
    {E::kInputStopped, {.course = kBegun, .input = {I::kOpen}}, {.input = I::kStopped}},

    {E::kPeerFin, {.course = {C::kOperational}, .program = {P::kUnaware}}, {.input = I::kPeerGone}},
    {E::kPeerFin,
     {.course = {C::kOperational, C::kClosing}, .output = {O::kLost}},
     {.course = C::kClosed, .input = I::kEnded},
     A::kReset},
    {E::kPeerFin, {.course = {C::kOperational}}, {.course = C::kClosing, .input = I::kEnded}},
    {E::kPeerFin, {.course = kBegun, .input = kReading}, {.input = I::kEnded}},
    {E::kInputLost,
     {.course = {C::kOperational}, .program = {P::kUnaware}},
     {.input = I::kPeerGone}},
    {E::kInputLost, {.course = kLive}, {.course = C::kClosed, .input = I::kEnded}, A::kReset},
    {E::kInputLost, {.course = {C::kClosed}, .input = kReading}, {.input = I::kEnded}},
    {E::kPeerGoneForLong,
     {.course = {C::kOperational}, .input = {I::kPeerGone}, .output = {O::kLost}},
     {.course = C::kClosed},
     A::kReset},
    {E::kPeerGoneForLong,
     {.course = {C::kOperational}, .input = {I::kPeerGone}},
     {.course = C::kClosing}},

    // What the peer had sent before, its Terminate perhaps, is read first.
    {E::kOutputLost, {.course = {C::kOperational}}, {.output = O::kLost}},
    {E::kOutputLost, {.course = {C::kClosing}, .input = kReading}, {.output = O::kLost}},
    {E::kOutputLost,
     {.course = {C::kClosing, C::kTerminating}},
     {.course = C::kClosed, .output = O::kLost},
     A::kReset},

    {E::kAllSent,
     {.course = {C::kClosing, C::kTerminating}, .output = {O::kOpen, O::kHeld}},
     {.course = C::kDraining},
     A::kSendFin},
    {E::kAllDelivered,
     {.course = {C::kDraining}, .input = kNoInput},
     {.course = C::kClosed},
     A::kClose},

    {E::kLost, {.course = {C::kClosed}}, {}},
    {E::kLost, {}, {.course = C::kClosed}, A::kReset},
};

constexpr bool holds(const When& when, const Life& life) {
  return when.course.contains(life.course) && when.input.contains(life.input) &&
         when.output.contains(life.output) && when.program.contains(life.program);
}

constexpr Life changed(const Life& life, const Change& change) {
  return {change.course.value_or(life.course), change.input.value_or(life.input),
          change.output.value_or(life.output), change.program.value_or(life.program)};
}

}  // namespace

LifeStep step(const Life& life, LifeEvent event) {
  for (const Row& row : kTable) {
    if (row.event == event && holds(row.when, life)) {
      return {changed(life, row.change), row.action};
    }
  }
  return {life, A::kNone};
}

const char* to_string(Course course) {
  switch (course) {
    case C::kIdle: return "idle";
    case C::kOperational: return "operational";
    case C::kClosing: return "closing";
    case C::kTerminating: return "terminating";
    case C::kDraining: return "draining";
    case C::kClosed: return "closed";
  }
  return "unknown";
}

const char* to_string(Input input) {
  switch (input) {
    case I::kOpen: return "open";
    case I::kStopped: return "stopped";
    case I::kEnded: return "ended";
    case I::kPeerGone: return "peer gone";
  }
  return "unknown";
}

const char* to_string(Output output) {
  switch (output) {
    case O::kOpen: return "open";
    case O::kHeld: return "held";
    case O::kLost: return "lost";
  }
  return "unknown";
}

const char* to_string(Program program) {
  switch (program) {
    case P::kStays: return "stays";
    case P::kUnaware: return "unaware";
    case P::kEnds: return "ends";
    case P::kGone: return "gone";
  }
  return "unknown";
}

const char* to_string(LifeEvent event) {
  switch (event) {
    case E::kEnterAsInitiator: return "enter as initiator";
    case E::kEnterAsResponder: return "enter as responder";
    case E::kFirstFpdu: return "first FPDU";
    case E::kDisconnect: return "disconnect";
    case E::kClose: return "close";
    case E::kAbort: return "abort";
    case E::kFault: return "fault";
    case E::kPeerTerminate: return "peer's Terminate";
    case E::kInputStopped: return "input stopped";
    case E::kPeerFin: return "peer's FIN";
    case E::kInputLost: return "input lost";
    case E::kOutputLost: return "output lost";
    case E::kPeerGoneForLong: return "peer gone for long";
    case E::kAllSent: return "all sent";
    case E::kAllDelivered: return "all delivered";
    case E::kLost: return "lost";
  }
  return "unknown";
}

const char* to_string(LifeAction action) {
  switch (action) {
    case A::kNone: return "nothing";
    case A::kSendFin: return "send FIN";
    case A::kClose: return "close";
    case A::kReset: return "reset";
  }
  return "unknown";
}

}  // namespace iwarp::connection
