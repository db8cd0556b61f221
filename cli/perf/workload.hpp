#pragma once

#include <cstdint>

namespace iwarp::cli::perf {

/// The operation that moves the data.
enum class Operation : std::uint8_t { kWrite = 1, kRead = 2, kSend = 3 };
/// What is measured.
enum class Figure : std::uint8_t { kBandwidth = 1, kLatency = 2 };
/// How both ends wait: by polling without pause, or asleep until something happens.
enum class Waiting : std::uint8_t { kPolling = 1, kEvents = 2 };
/// What the figure is compared with.
enum class Baseline : std::uint8_t { kNone = 1, kRawTcp = 2 };
/// Which of the two a slice of the measurement uses.
enum class Flow : std::uint8_t { kOurs = 1, kRawTcp = 2 };

inline constexpr std::uint32_t kMaxSize = 64U << 20U;
inline constexpr std::uint32_t kMaxDepth = 8192;

/// What both ends know about a measurement.
struct Workload {
  Operation operation = Operation::kWrite;
  Figure figure = Figure::kBandwidth;
  Waiting waiting = Waiting::kPolling;
  Baseline baseline = Baseline::kNone;
  std::uint32_t size = 65536;  ///< Octets of a message, at most kMaxSize.
  std::uint32_t depth = 16;    ///< Messages under way (bandwidth), at most kMaxDepth.
  /// Requests that the client posts at once (bandwidth), of which the last asks for a completion: a
  /// divisor of `depth`. 0: as many as there is room for, and each asks. The server is not told.
  std::uint32_t list = 0;
};

/// Whether every field is in its range and the combination can be measured.
bool is_valid(const Workload& workload);

const char* to_string(Operation operation);
const char* to_string(Figure figure);
const char* to_string(Waiting waiting);

}  // namespace iwarp::cli::perf
