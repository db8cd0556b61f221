#pragma once

#include <dlfcn.h>

namespace iwarp::rspreload {

/// The function that would have been called without this library.
template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace iwarp::rspreload

/// The system's function of this name, looked up once.
#define NEXT(name)                                                                   \
  ([]() {                                                                            \
    static const auto function = ::iwarp::rspreload::next<decltype(&::name)>(#name); \
    return function;                                                                 \
  }())
