#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "stream.hpp"

namespace iwarp::bench {

/// What is measured.
enum class Shape : std::uint8_t { kStream, kPingPong };

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
/// Serves one client until it has ended the connection.
void serve(Stream& stream);

}  // namespace iwarp::bench
