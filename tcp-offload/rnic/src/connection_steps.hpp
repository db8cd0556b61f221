#pragma once

#include <utility>

#include "connection.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::rnic {

inline verbs::Error error_of(std::errc code, std::string message) {
  return {std::make_error_code(code), std::move(message)};
}

/// Soon, on the loop's thread: `step` with the connection, which is kept for it.
template <typename Step>
void Connection::soon(Step step) {
  host_->loop().post([self = shared_from_this(), step] { step(*self); });
}

/// The same after a while, if the connection is still there.
template <typename Step>
void Connection::later(Clock::duration wait, Step step) {
  host_->loop().post_at(Clock::now() + wait, [weak = weak_from_this(), step] {
    if (const auto self = weak.lock()) step(*self);
  });
}

}  // namespace iwarp::rnic
