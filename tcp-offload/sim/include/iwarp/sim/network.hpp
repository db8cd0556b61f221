#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "iwarp/sim/link.hpp"
#include "iwarp/sim/options.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload {

namespace sim {
class Fabric;
}  // namespace sim

/// A connection made directly in RDMA mode.
struct SimStreamPair {
  std::unique_ptr<Stream> connector;  ///< At host 1.
  std::unique_ptr<Stream> acceptor;   ///< At host 2.
  SimLink link;                       ///< Between the two.
};

/// An in-memory network with a seed and a virtual clock. The same seed, options and calls give the
/// same run. The network, its devices and everything they make belong to one thread, even what the
/// contract of Device lets other threads call. Handlers run, and octets move, only inside step()
/// and the functions that take steps; none of those may be called from a handler. The network
/// outlives everything made from it.
class SimNetwork {
 public:
  /// A network without hosts at time 0.
  explicit SimNetwork(std::uint64_t seed, const SimOptions& options = {});
  ~SimNetwork();
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  /// The device of the host with this address, made at the first call. It reaches itself by any
  /// loopback address and the others by theirs. Its streams have no descriptor.
  Device& device(const boost::asio::ip::address& address);
  /// The device of host 10.0.0.`host`; 1 to 254.
  Device& device(unsigned host);

  /// Stops the program of host 10.0.0.`host`: no handler of its device is called. The network goes
  /// on, so that octets arrive for it; streams in RDMA mode have no handlers.
  void stop(unsigned host);
  /// Lets it go on. What it was not told meanwhile it is told now: first that its timers have come
  /// due, then the rest in its order.
  void go_on(unsigned host);

  /// A connection in RDMA mode between hosts 10.0.0.1 and 10.0.0.2.
  SimStreamPair make_stream_pair();

  /// Connections made so far.
  [[nodiscard]] std::size_t links() const;
  /// One of them, in the order they were made. Precondition: index < links().
  [[nodiscard]] SimLink link(std::size_t index) const;
  /// Is called for each connection when it is made, before any octet moves.
  void on_link(std::function<void(SimLink)> callback);

  /// Runs the next event, moving the clock to its time. False if there is none.
  bool step();
  /// Steps until nothing is pending or `limit` events have run; returns how many have.
  std::size_t run_until_idle(std::size_t limit = 10'000'000);
  /// Steps until `condition` holds, asked before each step; false if nothing is pending or `limit`
  /// events have run before that. A condition that itself moves octets must move all it can: what
  /// it leaves unread is no event.
  bool run_until(const std::function<bool()>& condition, std::size_t limit = 10'000'000);
  /// Runs everything that happens within `duration` and leaves the clock at its end.
  void advance(std::chrono::nanoseconds duration);

  /// Whether any event is to come.
  [[nodiscard]] bool pending() const;
  /// The virtual time.
  [[nodiscard]] Device::Clock::time_point now() const;
  /// A number that stands for everything that happened so far: equal for equal runs.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  std::unique_ptr<sim::Fabric> fabric_;
};

}  // namespace iwarp::tcp_offload
