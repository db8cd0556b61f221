#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "support/sanitizers.hpp"

namespace iwarp::test {

/// How many descriptors this process has open, one for looking included. With
/// UndefinedBehaviorSanitizer, which comes with AddressSanitizer here, pipes are left out: it opens
/// one for a moment, in any thread, to see whether memory may be read. The stack itself has none.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& entry) {
    if constexpr (!kAddressSanitizer) return true;
    std::error_code closed_meanwhile;
    const auto target = std::filesystem::read_symlink(entry.path(), closed_meanwhile);
    return !closed_meanwhile && !target.string().starts_with("pipe:");
  }));
}

/// Until it is destroyed, no descriptor can be opened whose number is not below the limit.
class DescriptorLimit {
 public:
  /// UndefinedBehaviorSanitizer takes for unreadable what it has no descriptors for its pipes for.
  static constexpr bool kUnbearable = kAddressSanitizer;
  static constexpr const char* kWhy = "the sanitizer needs descriptors itself";

  explicit DescriptorLimit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit tight = before_;
    tight.rlim_cur = limit;
    ::setrlimit(RLIMIT_NOFILE, &tight);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace iwarp::test
