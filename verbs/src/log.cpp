#include "iwarp/verbs/log.hpp"

#include <utility>

#include "iwarp/tcp_offload/log.hpp"

namespace iwarp::verbs {

void set_logger(std::shared_ptr<spdlog::logger> logger) {
  tcp_offload::set_logger(std::move(logger));
}

void log(LogLevel level, std::string_view line) {
  tcp_offload::log(
      level == LogLevel::kWarn ? tcp_offload::LogLevel::kWarn : tcp_offload::LogLevel::kDebug,
      line);
}

}  // namespace iwarp::verbs
