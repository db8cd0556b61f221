// Writes, Sends and Reads beside a thread that keeps changing the buffers which they read.
#include <charconv>
#include <chrono>
#include <iostream>
#include <string_view>

#include "verbs/changing/exchange.hpp"

namespace {

using namespace iwarp::verbs::test;

constexpr std::string_view kUsage =
    "usage: changing_buffers [--operations N] [--seed SEED] [--markers]\n"
    "  Does N operations (1000000) of 4 KiB to 8 MiB, each octet of which has to arrive as it was\n"
    "  before or after a change, with no connection lost. Ends with 1 if that is violated.\n";

bool number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse(int argc, char** argv, ChangingOptions& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--markers") {
      options.connect.want_markers = true;
      continue;
    }
    std::uint64_t* const value = name == "--operations" ? &options.operations
                                 : name == "--seed"     ? &options.seed
                                                        : nullptr;
    if (value == nullptr || ++i == argc || !number(argv[i], *value)) return false;
  }
  return true;
}

// Each part has a connection of its own, and says how far it is.
constexpr std::uint64_t kPart = 50000;

bool run_part(const ChangingOptions& options, std::uint64_t done) {
  const auto start = std::chrono::steady_clock::now();
  const ChangingTally tally = exchange_changing(options);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  std::cout << done + tally.operations << " operations, " << tally.mixed << " of the last "
            << tally.operations << " mixed, " << static_cast<double>(tally.octets) / 1e9
            << " GB in " << time.count() << " s" << std::endl;
  if (tally.violation) std::cout << "seed " << options.seed << ": " << *tally.violation << '\n';
  return !tally.violation;
}

}  // namespace

int main(int argc, char** argv) {
  ChangingOptions options;
  options.operations = 1000000;
  if (!parse(argc, argv, options)) {
    std::cerr << kUsage;
    return 2;
  }
  const std::uint64_t all = options.operations;
  for (std::uint64_t done = 0; done < all; done += options.operations, ++options.seed) {
    options.operations = std::min(kPart, all - done);
    if (!run_part(options, done)) return 1;
  }
  std::cout << "no connection was lost\n";
}
