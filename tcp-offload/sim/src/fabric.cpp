#include "fabric.hpp"

#include "device.hpp"

namespace iwarp::tcp_offload::sim {
namespace {

// The dynamic ports of RFC 6335 §6, to 65535.
constexpr std::uint16_t kFirstDynamicPort = 49152;

}  // namespace

Fabric::Fabric(std::uint64_t seed, const SimOptions& network_options)
    : world(seed), options(network_options) {}

// What is still to come goes first: it may hold ends of connections, which need the links.
Fabric::~Fabric() { world.schedule.close(); }

Device& Fabric::device(const Address& address) {
  auto& device = devices_[address];
  if (!device) device = std::make_unique<SimDevice>(*this, address);
  return *device;
}

std::uint16_t Fabric::free_port(const Address& address) {
  std::uint16_t& last = last_ports_[address];
  do {
    last = last < kFirstDynamicPort || last == UINT16_MAX ? kFirstDynamicPort
                                                          : static_cast<std::uint16_t>(last + 1);
  } while (listeners.contains(Endpoint(address, last)));
  return last;
}

Link& Fabric::make_link(const Endpoint& connector, const Endpoint& acceptor) {
  Link& link = *links.emplace_back(std::make_unique<Link>(world, options, connector, acceptor));
  if (on_link) on_link(SimLink(link));
  return link;
}

}  // namespace iwarp::tcp_offload::sim
