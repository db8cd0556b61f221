#pragma once

#include <cerrno>
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

/// The same after a while.
template <typename Step>
void Connection::later(Clock::duration wait, Step step) {
  host_->loop().post_at(Clock::now() + wait, [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) step(*self);
  });
}

}  // namespace iwarp::rnic
