#include "context.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <new>

#include "iwarp/verbs/log.hpp"
#include "utf8.hpp"

namespace iwarp::cli {

void print_error(const std::string& sentence) {
  const std::string line = "iwarp: " + printable(sentence) + "\n";
  std::fputs(line.c_str(), stderr);
}

const char* describe(const std::exception& failure) noexcept {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  return memory ? "out of memory" : failure.what();
}

void print_failure(const std::exception& failure) noexcept {
  try {
    print_error(describe(failure));
  } catch (const std::exception&) {
    std::fprintf(stderr, "iwarp: %s\n", describe(failure));  // which takes no memory
  }
}

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

}  // namespace iwarp::cli
