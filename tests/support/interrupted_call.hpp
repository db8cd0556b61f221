#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

/// Calls that wait, in a thread that gets signals meanwhile.
namespace iwarp::test {

/// A handler of SIGUSR1, until it goes; installed with these sigaction(2) flags.
class SignalHandler {
 public:
  explicit SignalHandler(int flags) {
    struct sigaction action {};
    action.sa_handler = [](int) { ++count(); };
    action.sa_flags = flags;
    ::sigaction(SIGUSR1, &action, &before_);
    count() = 0;
  }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;
  ~SignalHandler() { ::sigaction(SIGUSR1, &before_, nullptr); }

  /// How many signals have been handled.
  static std::atomic<int>& count() {
    static std::atomic<int> handled{0};
    return handled;
  }

 private:
  struct sigaction before_ {};
};

/// A thread in a call that returns a number and sets errno.
class InterruptedCall {
 public:
  explicit InterruptedCall(std::function<int()> call)
      : thread_([this, call = std::move(call)] {
          id_ = pthread_self();
          started_ = true;
          result_ = call();
          error_ = errno;
          over_ = true;
        }) {}
  InterruptedCall(const InterruptedCall&) = delete;
  InterruptedCall& operator=(const InterruptedCall&) = delete;
  ~InterruptedCall() { thread_.join(); }

  /// Sends SIGUSR1 until it has been handled, or the call is over. Once would do, but
  /// ThreadSanitizer keeps a signal that comes just before a call until something ends that call.
  void signal() {
    wait_for([this] { return started_.load(); });
    std::this_thread::sleep_for(kSettling);
    const int before = SignalHandler::count();
    const auto done = [this, before] { return over() || SignalHandler::count() > before; };
    wait_for([&] {
      EXPECT_EQ(pthread_kill(id_, SIGUSR1), 0);
      return soon(done, kSettling);
    });
  }
  void signal_until_over() {
    while (!over() && !testing::Test::HasFatalFailure()) signal();
  }
  [[nodiscard]] bool over() const { return over_; }
  /// Waits for the call's end.
  int result() {
    wait_for([this] { return over_.load(); });
    return result_;
  }
  /// errno after the call; it is over.
  [[nodiscard]] int error() const { return error_; }

 private:
  // Until the thread waits; if it is not there yet it waits later.
  static constexpr std::chrono::milliseconds kSettling{20};

  static bool soon(const std::function<bool()>& done, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  static void wait_for(const std::function<bool()>& done) {
    ASSERT_TRUE(soon(done, std::chrono::seconds(20)));
  }

  std::atomic<bool> started_{false}, over_{false};
  std::atomic<int> result_{0}, error_{0};
  pthread_t id_{};
  std::thread thread_;
};

}  // namespace iwarp::test
