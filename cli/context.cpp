#include "context.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

namespace iwarp::cli {

std::string printable(const std::string& text) {
  std::string clean = text;
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return clean;
}

void print_error(const std::string& sentence) {
  const std::string line = "iwarp: " + printable(sentence) + "\n";
  std::fputs(line.c_str(), stderr);
}

void configure_log(const std::string& level) {
  static const auto logger = spdlog::stderr_color_mt("iwarp");
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(logger);
}

}  // namespace iwarp::cli
