#pragma once

#include <chrono>

namespace iwarp::cli::perf {

/// Processor time, user and system together, by getrusage(2).
struct CpuTime {
  std::chrono::nanoseconds process{};  ///< All threads of this process.
  std::chrono::nanoseconds thread{};   ///< The calling thread alone.

  static CpuTime now();

  CpuTime operator-(const CpuTime& earlier) const {
    return {process - earlier.process, thread - earlier.thread};
  }
  CpuTime& operator+=(const CpuTime& more) {
    process += more.process;
    thread += more.thread;
    return *this;
  }
};

}  // namespace iwarp::cli::perf
