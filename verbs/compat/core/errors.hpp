#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <system_error>

#include "iwarp/verbs/error.hpp"

namespace iwarp::compat {

/// The errno that says `code`; EIO for what has none.
int errno_of(const std::error_code& code);

/// What a C function that returns a pointer does on failure: null, and errno set.
inline std::nullptr_t fail_null(int error) {
  errno = error;
  return nullptr;
}

/// What a function of librdmacm does on failure: -1, and errno set.
inline int fail_minus(int error) {
  errno = error;
  return -1;
}

/// Runs `body`, from which no exception may reach a C program: an errno instead, given to
/// `failed`: ENOMEM, that of a system_error, or EIO.
template <typename Body, typename Failed>
auto guarded(Body body, Failed failed) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return failed(ENOMEM);
  } catch (const std::system_error& error) {
    return failed(errno_of(error.code()));
  } catch (const std::exception&) {
    return failed(EIO);
  }
}

/// For functions of libibverbs that return an errno.
template <typename Body>
int guarded_errno(Body body) {
  return guarded(std::move(body), [](int error) { return error; });
}

}  // namespace iwarp::compat
