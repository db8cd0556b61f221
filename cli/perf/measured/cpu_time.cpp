#include "perf/measured/cpu_time.hpp"

#include <sys/resource.h>

namespace iwarp::cli::perf {
namespace {

std::chrono::nanoseconds duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

std::chrono::nanoseconds used(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return duration(usage.ru_utime) + duration(usage.ru_stime);
}

}  // namespace

CpuTime CpuTime::now() { return {used(RUSAGE_SELF), used(RUSAGE_THREAD)}; }

}  // namespace iwarp::cli::perf
