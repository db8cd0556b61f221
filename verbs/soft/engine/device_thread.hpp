#pragma once

#include <thread>
#include <utility>

#include "iwarp/process/quiet_thread.hpp"

namespace iwarp::verbs::soft {

/// Whether the calling thread is a device's own, whichever device's: a program's handlers run on
/// such threads, so that none of them may wait for another's.
inline thread_local bool on_device_thread = false;

/// A thread of that kind.
template <typename Function>
std::thread device_thread(Function function) {
  return process::quiet_thread([function = std::move(function)]() mutable {
    on_device_thread = true;
    function();
  });
}

}  // namespace iwarp::verbs::soft
