#pragma once

namespace iwarp::verbs::soft {

/// What the engine knows of a poller that says that it sleeps at a socket which was left to it. It
/// may be busy instead: an event loop says that it sleeps, and then runs another handler for a
/// minute, or is not run at all. A socket that is ready and that the sleeper does not touch goes
/// back to the engine; until then, and while nothing comes, no thread need look. Times are counted
/// in the engine's ticks. Not thread-safe.
class Sleeper {
 public:
  /// What a tick asks of the engine.
  enum class Step {
    kNone,
    kWatch,     ///< Have the socket watched: nothing comes, and the ticks may end.
    kTakeBack,  ///< What has come is not read.
  };

  /// The poller has shown that it is awake: it has polled, read, or ended a sleep.
  void heard() {
    if (state_ != State::kWatched) state_ = State::kAwake;
    ticks_ = 0;
  }
  /// The socket has something to read: the sleeper has been woken for it as well.
  void socket_is_ready() {
    if (state_ == State::kOverslept) return;
    state_ = State::kCalled;
    ticks_ = 0;
  }
  /// The engine watches the socket itself again.
  void unwatch() {
    if (state_ == State::kWatched) state_ = State::kAwake;
  }

  /// One tick in which the poller may have been heard.
  Step tick() {
    if (ticks_ < kPatience) ++ticks_;
    if (ticks_ < kPatience) return Step::kNone;
    if (state_ == State::kAwake) {
      state_ = State::kWatched;
      return Step::kWatch;
    }
    if (state_ != State::kCalled) return Step::kNone;
    state_ = State::kOverslept;
    return Step::kTakeBack;
  }

  /// Whether a socket may be left to it: not to one that has overslept, until it is heard again.
  [[nodiscard]] bool is_trusted() const { return state_ != State::kOverslept; }
  /// Whether the socket is watched on its behalf.
  [[nodiscard]] bool is_watched() const { return state_ == State::kWatched; }
  /// Whether no tick is needed until the socket is ready or the sleeper wakes up.
  [[nodiscard]] bool is_asleep() const { return is_watched() && ticks_ == kPatience; }

 private:
  enum class State { kAwake, kWatched, kCalled, kOverslept };
  /// So many ticks without a sign are a sleep, or the answer to a call that did not come.
  static constexpr unsigned kPatience = 8;

  State state_ = State::kAwake;
  unsigned ticks_ = 0;  // without a sign
};

}  // namespace iwarp::verbs::soft
