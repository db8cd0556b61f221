#include "iwarp/tcp_offload/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <mutex>
#include <utility>

namespace iwarp::tcp_offload {
namespace {

struct Current {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger;
};

// Never destroyed, unlike spdlog's registry: threads may outlive what is.
Current& current() {
  static auto& only = *new Current;
  return only;
}

spdlog::level::level_enum level_of(LogLevel level) {
  return level == LogLevel::kWarn ? spdlog::level::warn : spdlog::level::debug;
}

std::shared_ptr<spdlog::logger> logger() {
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  if (!now.logger) {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    now.logger = std::make_shared<spdlog::logger>("iwarp", std::move(sink));
  }
  return now.logger;
}

}  // namespace

void set_logger(std::shared_ptr<spdlog::logger> logger) {
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  now.logger.swap(logger);
}

void log(LogLevel level, std::string_view line) { logger()->log(level_of(level), "{}", line); }

bool logs(LogLevel level) { return logger()->should_log(level_of(level)); }

}  // namespace iwarp::tcp_offload
