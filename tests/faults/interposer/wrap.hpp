#pragma once

#include <cerrno>
#include <type_traits>

#include "injector.hpp"

namespace iwarp::faults {

/// As most functions of the C library say that they have failed.
template <typename R>
R failed(int error) {
  errno = error;
  if constexpr (std::is_pointer_v<R>) {
    return nullptr;
  } else {
    return -1;
  }
}

}  // namespace iwarp::faults

// A function with the name of one of the C library, given by its assembler name: the headers, which
// declare that one with other attributes, are not contradicted.
#define FAULT_DECLARE(R, NAME, PARAMETERS) \
  extern "C" [[gnu::visibility("default")]] R wrapped_##NAME PARAMETERS __asm__(#NAME)

#define FAULT_NEXT(NAME)                                                                    \
  ([] {                                                                                     \
    static const auto function =                                                            \
        reinterpret_cast<decltype(&wrapped_##NAME)>(::iwarp::faults::next_function(#NAME)); \
    return function;                                                                        \
  }())

// Fails instead of being called. FAILED makes of an errno what the function returns then.
#define FAULT_WRAP_AS(FAILED, CALL, R, NAME, PARAMETERS, ARGUMENTS)                     \
  FAULT_DECLARE(R, NAME, PARAMETERS);                                                   \
  R wrapped_##NAME PARAMETERS {                                                         \
    if (const int error = ::iwarp::faults::fault_of(::iwarp::faults::Call::k_##CALL)) { \
      return FAILED(error);                                                             \
    }                                                                                   \
    return FAULT_NEXT(NAME) ARGUMENTS;                                                  \
  }

#define FAULT_WRAP(CALL, R, NAME, PARAMETERS, ARGUMENTS) \
  FAULT_WRAP_AS(::iwarp::faults::failed<R>, CALL, R, NAME, PARAMETERS, ARGUMENTS)
