#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "stream.hpp"

namespace iwarp::bench {

/// What is measured.
enum class Shape : std::uint8_t { kStream, kPingPong };

constexpr std::uint32_t kLargestSize = 64U << 20U;  ///< Of a send, in octets.

/// What the two ends have to know; travels first, as it is.
struct Task {
  Shape shape = Shape::kStream;
  Wait wait = Wait::kBlock;
  std::uint32_t size = 0;  ///< Octets of a send, and of the buffer at the receiving end.
};

/// What a server has seen.
struct Seen {
  std::uint64_t octets = 0;
  std::uint64_t cpu_nanoseconds = 0;
};

/// What a client has measured.
struct Measured {
  std::uint64_t octets = 0;  ///< All that has arrived.
  std::chrono::nanoseconds time{}, client_cpu{}, server_cpu{};
  std::vector<std::chrono::nanoseconds> round_trips;  ///< None of a stream.
};

/// Measures for so long, and ends the connection. Throws std::system_error and std::runtime_error.
Measured run_client(Stream& stream, const Task& task, std::chrono::nanoseconds duration);
/// What a client asks for; none if it has gone before it has asked. Throws std::system_error, and
/// std::runtime_error if no client of this program asks so.
std::optional<Task> hear(Stream& stream);
/// Serves one client until it has ended the connection. Throws std::system_error.
void serve(Stream& stream, const Task& task);

}  // namespace iwarp::bench
