#pragma once

#include <atomic>
#include <cstdint>

namespace iwarp::faults {

/// The calls of calls.def.
enum class Call : std::uint32_t {
#define FAULT_CALL(name) k_##name,
#include "calls.def"
#undef FAULT_CALL
  kCount
};

/// What the processes of an exchange share with the judge of it: a file that is mapped. Its other
/// half is tests/faults/region.py.
struct Region {
  static constexpr std::uint32_t kMostCalls = 128;
  static constexpr std::uint32_t kMostFrames = 32;

  struct Counted {
    char name[24];
    std::atomic<std::uint64_t> made;  ///< While armed.
  };

  std::atomic<std::uint32_t> armed;  ///< Nothing is counted and nothing fails while this is 0.
  std::atomic<std::uint32_t> fired;  ///< How many calls were made to fail.
  Counted calls[kMostCalls];
  std::atomic<std::uint64_t> skipped;  ///< Calls by programs that are not the one that is meant.
  char place[4096];  ///< The stack of the first call that failed: a line for each frame.
};

static_assert(static_cast<std::uint32_t>(Call::kCount) <= Region::kMostCalls);

}  // namespace iwarp::faults
