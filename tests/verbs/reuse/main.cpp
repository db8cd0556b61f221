// The long form of the tests of names that come again: a million of them, as many times as asked
// for.
#include <charconv>
#include <cstring>
#include <iostream>

#include "verbs/reuse/names.hpp"

namespace {

constexpr std::uint64_t kNames = 1'000'000;

// Runs one seed until its peer knows so many names; false, with a sentence, if one was wrong.
bool run(std::uint64_t seed) {
  iwarp::verbs::reuse::Names names(seed);
  while (names.known() < kNames && names.complaint().empty()) names.step();
  if (names.complaint().empty()) return true;
  std::cout << "seed " << seed << ": " << names.complaint() << '\n';
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seeds = 1;
  std::uint64_t first = 1;
  for (int i = 1; i < argc; i += 2) {
    const bool counts = std::strcmp(argv[i], "--seeds") == 0;
    std::uint64_t& value = counts ? seeds : first;
    const char* const text = i + 1 < argc ? argv[i + 1] : "";
    const bool known = counts || std::strcmp(argv[i], "--first") == 0;
    if (!known || std::from_chars(text, text + std::strlen(text), value).ec != std::errc{}) {
      std::cerr
          << "usage: reuse [--seeds N] [--first SEED]\n"
             "  Makes and ends regions, windows, fast regions and streams until a peer knows a\n"
             "  million of their names, for N seeds (1) from SEED (1) on; ends with 1 if one of\n"
             "  these opened what it must not.\n";
      return 2;
    }
  }
  bool good = true;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) good = run(seed) && good;
  std::cout << seeds << " times " << kNames << " names: " << (good ? "none was wrong" : "FAILED")
            << '\n';
  return good ? 0 : 1;
}
