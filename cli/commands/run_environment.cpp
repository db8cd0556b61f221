#include "commands/run_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "context.hpp"

namespace iwarp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLibraries = {"libibverbs.so.1", "librdmacm.so.1"};

bool holds_libraries(const fs::path& directory) {
  return std::all_of(kLibraries.begin(), kLibraries.end(), [&directory](const char* library) {
    std::error_code ignored;
    return fs::exists(directory / library, ignored);
  });
}

/// Build tree: build/release/cli/iwarp and build/release/lib/iwarp-verbs; installed: bin/iwarp and
/// the library directory of the system, whose name differs.
std::vector<fs::path> candidates() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) throw CommandError("cannot tell where this program is: " + failed.message());
  std::vector<fs::path> all;
  for (const char* directory : {IWARP_INSTALL_LIBDIR, "lib", "lib64"}) {
    const fs::path path(directory);
    const fs::path base = path.is_absolute() ? path : program.parent_path().parent_path() / path;
    all.push_back(base / "iwarp-verbs");
  }
  return all;
}

/// Adds `value` in front of what the variable holds.
void prepend(const char* variable, std::string value) {
  const char* const before = std::getenv(variable);
  if (before != nullptr && *before != '\0') value.append(":").append(before);
  ::setenv(variable, value.c_str(), 1);
}

void require_without(const std::string& directory, const char* separators, const char* variable) {
  if (directory.find_first_of(separators) == std::string::npos) return;
  throw CommandError(fmt::format("{} cannot hold the path {}; IWARP_LIBRARY_DIR can name another",
                                 variable, directory));
}

}  // namespace

std::string library_directory() {
  if (const char* const chosen = std::getenv("IWARP_LIBRARY_DIR"); chosen != nullptr) {
    if (holds_libraries(chosen)) return fs::canonical(chosen).string();
    throw CommandError(
        fmt::format("IWARP_LIBRARY_DIR is {}, where libibverbs.so.1 and "
                    "librdmacm.so.1 are not",
                    *chosen == '\0' ? "empty" : chosen));
  }
  const auto all = candidates();
  const auto found = std::find_if(all.begin(), all.end(), holds_libraries);
  if (found != all.end()) return fs::canonical(*found).string();
  throw CommandError(fmt::format(
      "libibverbs.so.1 and librdmacm.so.1 of this project are not in {}; IWARP_LIBRARY_DIR can "
      "name their directory",
      all.front().string()));
}

void prepend_library_path(const std::string& directory) {
  require_without(directory, ":;", "LD_LIBRARY_PATH");
  prepend("LD_LIBRARY_PATH", directory);
}

void preload_libraries(const std::string& directory) {
  require_without(directory, ": ", "LD_PRELOAD");
  std::string all;
  for (const char* library : kLibraries) {
    all.append(all.empty() ? "" : ":").append(directory).append("/").append(library);
  }
  prepend("LD_PRELOAD", all);
}

}  // namespace iwarp::cli
