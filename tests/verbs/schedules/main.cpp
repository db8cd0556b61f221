// Runs seeded schedules of two queue pairs over a simulated network, and judges each.
#include <spdlog/spdlog.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>

#include "verbs/schedules/schedule.hpp"

namespace {

using namespace iwarp::verbs::simtest::schedules;

constexpr std::string_view kUsage =
    "usage: schedules [--seeds N] [--first SEED] [--threads N] | --verbose SEED\n"
    "  Runs the schedules of N seeds from SEED on (1000 from 1), on N threads (1), and reports "
    "those\n"
    "  that violate something; --verbose runs one with a trace. Ends with 1 if one did.\n";

struct Options {
  std::uint64_t seeds = 1000, first = 1, threads = 1;
  std::optional<std::uint64_t> verbose;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    const auto value = i + 1 < argc ? number(argv[i + 1]) : std::nullopt;
    if (!value) return std::nullopt;
    if (name == "--seeds")
      options.seeds = *value;
    else if (name == "--first")
      options.first = *value;
    else if (name == "--threads" && *value != 0)
      options.threads = *value;
    else if (name == "--verbose")
      options.verbose = *value;
    else
      return std::nullopt;
  }
  return options;
}

bool run_one(std::uint64_t seed) {
  const auto violations = run_schedule(seed, &std::cout);
  for (const std::string& sentence : violations) std::cout << "violated: " << sentence << '\n';
  if (violations.empty()) std::cout << "nothing was violated\n";
  return violations.empty();
}

bool run_all(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const bool good = run_schedules(options.first, options.seeds,
                                  static_cast<unsigned>(options.threads), std::cout);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::cout << options.seeds << " schedules from seed " << options.first << " in " << time.count()
            << " s: " << (good ? "nothing was violated\n" : "FAILED\n");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  spdlog::set_level(spdlog::level::off);
  const auto options = parse(argc, argv);
  if (!options) {
    std::cerr << kUsage;
    return 2;
  }
  return (options->verbose ? run_one(*options->verbose) : run_all(*options)) ? 0 : 1;
}
