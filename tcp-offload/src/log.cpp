#include "iwarp/tcp_offload/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>

namespace iwarp::tcp_offload {
namespace {

constexpr const char* kName = "iwarp";

spdlog::level::level_enum level_of(LogLevel level) {
  return level == LogLevel::kWarn ? spdlog::level::warn : spdlog::level::debug;
}

// Looked up each time: a program may register its own at any moment.
std::shared_ptr<spdlog::logger> logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto known = spdlog::get(kName)) return known;
  try {
    return spdlog::stderr_color_mt(kName);
  } catch (const spdlog::spdlog_ex&) {  // the program has registered one just now
    return spdlog::get(kName);
  }
}

}  // namespace

void log(LogLevel level, std::string_view line) {
  if (const auto to = logger()) to->log(level_of(level), "{}", line);
}

bool logs(LogLevel level) {
  const auto to = logger();
  return to != nullptr && to->should_log(level_of(level));
}

}  // namespace iwarp::tcp_offload
