#pragma once

#include <chrono>
#include <cstddef>
#include <limits>

namespace iwarp::tcp_offload {

/// A range of sizes in octets, both ends included; 1 <= min <= max. A size is drawn from it anew
/// each time, uniformly.
struct SimRange {
  std::size_t min = std::numeric_limits<std::size_t>::max();  ///< The least.
  std::size_t max = std::numeric_limits<std::size_t>::max();  ///< The most.
};

/// What a simulated stream does with the memory it is offered to send.
enum class SimMemory {
  kCopied,      ///< Copies it when it accepts, as a socket does.
  kReferenced,  ///< Reads it when it transmits, as zero-copy sending does.
};

/// Where a simulated stream lends received octets.
enum class SimLending {
  kOwnMemory,  ///< In memory of its own, freed as soon as it is consumed.
  kScratch,    ///< In the caller's scratch memory.
};

/// How the connections of a simulated network behave. The defaults are a quiet, fast network.
struct SimOptions {
  /// Octets a sender may have accepted that the receiver has not acknowledged; at least 1.
  std::size_t send_buffer = 65536;
  /// Octets that may be under way or waiting to be consumed; at least 1.
  std::size_t receive_buffer = 65536;
  /// What Stream::emss() reports, and the most that one segment carries; at least 1.
  std::size_t emss = 1460;
  /// What Stream::send_quantum() reports. The stream takes more if it is offered more.
  std::size_t send_quantum = 0;
  /// The time an octet takes one way.
  std::chrono::nanoseconds latency = std::chrono::microseconds(10);
  /// What is randomly added to it for each segment. Octets never overtake each other.
  std::chrono::nanoseconds jitter{0};
  /// The payload of each segment, cut down to EMSS, window and what there is: fragmentation.
  SimRange segment{};
  /// The most that one receive lends of what has arrived: small ranges fragment again, large ones
  /// coalesce.
  SimRange lend{};
  /// The most that one send accepts.
  SimRange accept{};
  SimMemory memory = SimMemory::kCopied;  ///< What it does with memory that it is offered.
  /// How much later than the acknowledgement memory counts as released. With kCopied and no lag
  /// everything accepted is released at once.
  std::chrono::nanoseconds release_lag{0};
  SimLending lending = SimLending::kOwnMemory;  ///< Where it lends what it received.
};

}  // namespace iwarp::tcp_offload
