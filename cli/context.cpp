#include "context.hpp"

#include <unistd.h>

#include <cstdio>
#include <new>

#include "text/layout.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {

void print_error(const std::string& sentence) {
  const std::string line = "iwarp: " + printable(sentence);
  const auto width = terminal_columns(STDERR_FILENO);
  std::fputs((width ? broken(line, *width) : line + "\n").c_str(), stderr);
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

}  // namespace iwarp::cli
