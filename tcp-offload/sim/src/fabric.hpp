#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "iwarp/sim/link.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "link.hpp"
#include "program.hpp"

namespace iwarp::tcp_offload::sim {

class Listener;
class SimDevice;

/// What the hosts of one network have in common: the clock, the listeners, and the connections.
class Fabric {
 public:
  using Address = boost::asio::ip::address;

  Fabric(std::uint64_t seed, const SimOptions& network_options);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// The host with this address, made at the first call.
  [[nodiscard]] Device& device(const Address& address);
  [[nodiscard]] bool has_device(const Address& address) const { return devices_.contains(address); }
  /// An ephemeral port of the host at which nothing listens.
  [[nodiscard]] std::uint16_t free_port(const Address& address);
  /// A connection, which lives as long as the network.
  [[nodiscard]] Link& make_link(const Endpoint& connector, const Endpoint& acceptor);

  /// The program on the host with this address.
  [[nodiscard]] Program& program(const Address& address) { return programs_[address]; }

  World world;
  SimOptions options;  // of the connections to come
  std::map<Endpoint, Listener*> listeners;
  std::vector<std::unique_ptr<Link>> links;
  std::function<void(SimLink)> on_link;

 private:
  std::map<Address, Program> programs_;
  std::map<Address, std::unique_ptr<SimDevice>> devices_;
  std::map<Address, std::uint16_t> last_ports_;
};

}  // namespace iwarp::tcp_offload::sim
