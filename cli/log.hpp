#pragma once

#include <spdlog/fmt/fmt.h>

#include <string>

#include "iwarp/process/log.hpp"

/// The log of the program on standard error, beside what it prints for its user.
namespace iwarp::cli {

/// Whether the stack's own warnings are shown at level warning. A subcommand that ends with its one
/// connection says itself what was wrong, on one line; the stack's line comes at level info.
enum class StackWarnings { kHidden, kShown };

/// Sends the log to standard error at `level` (trace, debug, info, warning, error, critical, off).
void configure_log(const std::string& level, StackWarnings stack = StackWarnings::kHidden);

/// Writes one line, if there is memory for it. Any thread.
void log_line(process::LogLevel level, fmt::string_view text, fmt::format_args values) noexcept;

// Only what packs the values is compiled at each place: formatting is the library's, and spdlog is
// log.cpp's.
template <typename... Values>
void log_debug(fmt::format_string<Values...> text, const Values&... values) noexcept {
  log_line(process::LogLevel::kDebug, text, fmt::make_format_args(values...));
}
template <typename... Values>
void log_info(fmt::format_string<Values...> text, const Values&... values) noexcept {
  log_line(process::LogLevel::kInfo, text, fmt::make_format_args(values...));
}
template <typename... Values>
void log_warning(fmt::format_string<Values...> text, const Values&... values) noexcept {
  log_line(process::LogLevel::kWarn, text, fmt::make_format_args(values...));
}

}  // namespace iwarp::cli
