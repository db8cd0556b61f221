#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iwarp/verbs/verbs.hpp"

namespace iwarp::verbs::test {

/// What became of operations beside which a thread kept changing their source buffers.
struct ChangingTally {
  std::uint64_t operations = 0;          ///< Those that were done and whose sink was looked at.
  std::uint64_t octets = 0;              ///< Of their payloads.
  std::uint64_t mixed = 0;               ///< Operations that brought octets of both kinds.
  std::optional<std::string> violation;  ///< What went wrong first, if anything did.
};

/// What to do.
struct ChangingOptions {
  std::uint64_t operations = 1000;  ///< Writes, Sends and Reads in all.
  std::uint64_t seed = 1;           ///< The order of operations, sizes and places.
  std::uint32_t largest = 11;       ///< Up to 4 KiB times two to the power of this.
  ConnectOptions connect{};         ///< Of both ends.
};

/// Runs Writes, Sends and Reads of 4 KiB and more between two queue pairs of this process, over
/// loopback TCP, four at a time, while another thread fills the buffers that they read with one of
/// two values in turn, without pause. Ends early when an operation fails, when none ends for a
/// minute, or when a sink holds anything but the two values.
ChangingTally exchange_changing(const ChangingOptions& options);

}  // namespace iwarp::verbs::test
