#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <filesystem>
#include <iterator>

#include "support/sanitizers.hpp"

namespace iwarp::test {

/// How many descriptors this process has open, one for looking included.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Until it is destroyed, no descriptor can be opened whose number is not below the limit.
class DescriptorLimit {
 public:
  /// UndefinedBehaviorSanitizer, which comes with AddressSanitizer here, opens pipes to see whether
  /// memory may be read, and takes for unreadable what it has no descriptors for.
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
