#pragma once

#include <cerrno>
#include <new>
#include <system_error>

#include "api/table.hpp"

namespace iwarp::rsocket {

/// Turns a result, or a negative errno, into what a C function returns.
template <typename T>
T answer(T result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

/// Answers what `function` returns; no exception but a thread's cancellation gets out.
template <typename Function>
auto guarded(Function function) {
  using R = decltype(function());
  try {
    return answer(function());
  } catch (const std::bad_alloc&) {
    return answer(R{-ENOMEM});
  } catch (const std::system_error& error) {
    return answer(static_cast<R>(-error.code().value()));
  }
}

/// Answers what `function` returns for the rsocket with this number: EBADF if there is none.
template <typename Function>
auto with_socket(int number, Function function) {
  using R = decltype(function(std::declval<Socket&>()));
  return guarded([&] {
    const Socket::Handle socket = Table::instance().find(number);
    return socket ? function(*socket) : R{-EBADF};
  });
}

}  // namespace iwarp::rsocket
