#include "log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "iwarp/verbs/log.hpp"

namespace iwarp::cli {
namespace {

spdlog::level::level_enum level_of(process::LogLevel level) {
  switch (level) {
    case process::LogLevel::kDebug: return spdlog::level::debug;
    case process::LogLevel::kInfo: return spdlog::level::info;
    case process::LogLevel::kWarn: break;
  }
  return spdlog::level::warn;
}

}  // namespace

void configure_log(const std::string& level, StackWarnings stack) {
  static const auto program = spdlog::stderr_color_mt("iwarp-program");
  static const auto below = std::make_shared<spdlog::logger>("iwarp", program->sinks().front());
  program->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  program->set_level(spdlog::level::from_str(level));
  const bool hidden = stack == StackWarnings::kHidden && program->level() == spdlog::level::warn;
  below->set_level(hidden ? spdlog::level::err : program->level());
  spdlog::set_default_logger(program);
  verbs::set_logger(below);
}

void log_line(process::LogLevel level, fmt::string_view text, fmt::format_args values) noexcept {
  try {
    if (spdlog::should_log(level_of(level)))
      spdlog::log(level_of(level), fmt::vformat(text, values));
  } catch (const std::exception&) {
    // Without memory there is no line.
  }
}

}  // namespace iwarp::cli
