#pragma once

#include <atomic>

namespace iwarp::verbs::soft {

/// Lets one thread call a program's handler, until another one closes it for good.
class HandlerGate {
 public:
  /// Whether a call may begin; then leave() is to follow.
  [[nodiscard]] bool enter() {
    State open = State::kOpen;
    return state_.compare_exchange_strong(open, State::kInside);
  }
  void leave() {
    State inside = State::kInside;
    if (state_.compare_exchange_strong(inside, State::kOpen)) return;
    state_.store(State::kClosed);
    state_.notify_all();
  }
  /// Makes the call, unless the gate is closed; passes on what it throws.
  template <typename Call>
  void pass(Call call) {
    if (!enter()) return;
    struct Inside {
      HandlerGate& gate;
      ~Inside() { gate.leave(); }
    } const inside{*this};
    call();
  }
  /// No call begins from now on; one may be under way.
  void close() {
    for (State now = state_.load(); now == State::kOpen || now == State::kInside;) {
      const State next = now == State::kOpen ? State::kClosed : State::kLastInside;
      if (state_.compare_exchange_strong(now, next)) return;
    }
  }
  /// After close(), until none is under way. Not from inside a call.
  void await_last() const { state_.wait(State::kLastInside); }

 private:
  enum class State { kOpen, kInside, kLastInside, kClosed };
  std::atomic<State> state_{State::kOpen};
};

}  // namespace iwarp::verbs::soft
