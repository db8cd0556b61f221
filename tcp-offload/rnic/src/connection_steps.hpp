#pragma once

#include <cerrno>
#include <new>
#include <utility>

#include "connection.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::rnic {

inline verbs::Error error_of(std::errc code, std::string message) {
  return {std::make_error_code(code), std::move(message)};
}

/// Calls librdmacm with the identifier; the errno with which that fails, or ENOTCONN without one.
template <typename Call>
int Connection::with_id(Call call) {
  const std::lock_guard lock(id_mutex_);
  if (!id_) return ENOTCONN;
  return call(id_.get()) == 0 ? 0 : errno;
}

/// Soon, on the loop's thread: `step` with the connection, if that is still there.
template <typename Step>
void Connection::soon(Step step) {
  later(Clock::duration::zero(), step);
}

/// The same, for a call of the program that says nothing of memory: it waits a second for some.
template <typename Step>
void Connection::ask(Step step) {
  constexpr int kTimes = 100;
  for (int left = kTimes;; --left) {
    try {
      return soon(step);
    } catch (const std::bad_alloc& thrown) {
      if (left == 0) return verbs::log_failure("an adapter's connection cannot be ended", thrown);
    }
    std::this_thread::sleep_for(std::chrono::seconds(1) / kTimes);
  }
}

/// The same after a while.
template <typename Step>
void Connection::later(Clock::duration wait, Step step) {
  host_->loop().post_at(Clock::now() + wait, [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) self->take_step([&] { step(*self); });
  });
}

/// On the loop's thread. A start-up for which there is no memory has failed; any other step is
/// taken again by the loop, and of an end the last one.
template <typename Step>
void Connection::take_step(Step step) {
  if (failed_start_) return finish_failed_start();
  if (hurries_) return await_flushed(0);
  try {
    step();
  } catch (const std::bad_alloc& thrown) {
    if (failed_start_) throw;
    hurries_ = ends_;
    if (state() != State::kConnecting || ends_) throw;
    fail_start({Event::Kind::kFailed, {verbs::code_of(thrown), "out of memory"}, {}});
  }
}

}  // namespace iwarp::rnic
