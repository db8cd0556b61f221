#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "control.hpp"

namespace iwarp::bench::channel {

/// Clients of one thread, which keep requests unanswered. They do not sleep, so that what is
/// measured is the server.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  virtual ~Load() = default;
  /// Asks as much as may be unanswered.
  virtual void begin() = 0;
  /// Takes the answers that have come, and asks anew. Throws if a client has lost the server.
  virtual void turn() = 0;
};

/// Connected to the server.
std::unique_ptr<Load> make_verbs_load(const std::string& address, std::uint16_t port,
                                      const Task& task);
std::unique_ptr<Load> make_tcp_load(const std::string& address, std::uint16_t port,
                                    const Task& task);

/// What has been measured.
struct Measured {
  std::uint64_t exchanges = 0;
  std::chrono::nanoseconds time{}, client_cpu{}, server_cpu{};
};

/// Measures for so long.
Measured measure(const std::string& address, std::uint16_t port, const Task& task,
                 std::chrono::nanoseconds duration);

}  // namespace iwarp::bench::channel
