#pragma once

#include <thread>
#include <utility>

#include "iwarp/process/blocked_signals.hpp"

namespace iwarp::process {

/// A thread of the library's own, at which the program's signals do not arrive: a program that
/// blocks a signal in its threads, to wait for it, must get it there. Those that a thread causes
/// itself are not blocked. Throws std::system_error.
template <typename Function>
std::thread quiet_thread(Function function) {
  const BlockedSignals inherited(OwnSignals::kArrive);
  return std::thread(std::move(function));
}

}  // namespace iwarp::process
