#include "iwarp/verbs/log.hpp"

#include <utility>

#include "iwarp/process/log.hpp"

namespace iwarp::verbs {

void set_logger(std::shared_ptr<spdlog::logger> logger) { process::set_logger(std::move(logger)); }

void log(LogLevel level, std::string_view line) {
  process::log(level == LogLevel::kWarn ? process::LogLevel::kWarn : process::LogLevel::kDebug,
               line);
}

}  // namespace iwarp::verbs
