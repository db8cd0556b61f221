#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "control.hpp"
#include "events.hpp"

namespace iwarp::bench::channel {

/// The clients of one measurement, served by the thread of an event loop: each request is answered
/// by as many octets. A client that goes away, or errs, is let go.
class Service {
 public:
  Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  virtual ~Service() = default;
  /// Where its clients connect.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Requests answered.
  [[nodiscard]] virtual std::uint64_t exchanges() const = 0;
};

/// Listens at `address`, and is served by `events`, which outlives it.
std::unique_ptr<Service> make_verbs_service(Events& events, const std::string& address,
                                            const Task& task);
std::unique_ptr<Service> make_tcp_service(Events& events, const std::string& address,
                                          const Task& task);

/// Prints the port and serves one measurement after the other.
[[noreturn]] void run_server(const std::string& address, std::uint16_t port);

}  // namespace iwarp::bench::channel
