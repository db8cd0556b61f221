#include "iwarp/sim/network.hpp"

#include <cassert>
#include <utility>

#include "fabric.hpp"
#include "stream.hpp"

namespace iwarp::tcp_offload {
namespace {

boost::asio::ip::address host_address(unsigned host) {
  assert(host >= 1 && host <= 254);
  return boost::asio::ip::address_v4(0x0A000000U | host);
}

}  // namespace

SimNetwork::SimNetwork(std::uint64_t seed, const SimOptions& options)
    : fabric_(std::make_unique<sim::Fabric>(seed, options)) {}

SimNetwork::~SimNetwork() = default;

Device& SimNetwork::device(const boost::asio::ip::address& address) {
  return fabric_->device(address);
}

Device& SimNetwork::device(unsigned host) { return device(host_address(host)); }

void SimNetwork::stop(unsigned host) { fabric_->program(host_address(host)).stop(); }

void SimNetwork::go_on(unsigned host) {
  fabric_->program(host_address(host)).go_on(fabric_->world.schedule);
}

SimStreamPair SimNetwork::make_stream_pair() {
  const Endpoint connector(host_address(1), fabric_->free_port(host_address(1)));
  const Endpoint acceptor(host_address(2), fabric_->free_port(host_address(2)));
  sim::Link& link = fabric_->make_link(connector, acceptor);
  return {std::make_unique<sim::SimStream>(sim::LinkEnd(link, SimSide::kConnector), ConstBytes()),
          std::make_unique<sim::SimStream>(sim::LinkEnd(link, SimSide::kAcceptor), ConstBytes()),
          SimLink(link)};
}

std::size_t SimNetwork::links() const { return fabric_->links.size(); }

SimLink SimNetwork::link(std::size_t index) const { return SimLink(*fabric_->links.at(index)); }

void SimNetwork::on_link(std::function<void(SimLink)> callback) {
  fabric_->on_link = std::move(callback);
}

bool SimNetwork::step() { return fabric_->world.schedule.run_next(); }

std::size_t SimNetwork::run_until_idle(std::size_t limit) {
  std::size_t steps = 0;
  while (steps < limit && step()) ++steps;
  return steps;
}

bool SimNetwork::run_until(const std::function<bool()>& condition, std::size_t limit) {
  for (std::size_t steps = 0; !condition(); ++steps) {
    if (steps == limit || !step()) return false;
  }
  return true;
}

void SimNetwork::advance(std::chrono::nanoseconds duration) {
  sim::Schedule& schedule = fabric_->world.schedule;
  const auto target = schedule.now() + duration;
  while (schedule.next() && *schedule.next() <= target) schedule.run_next();
  schedule.move_to(target);
}

bool SimNetwork::pending() const { return fabric_->world.schedule.next().has_value(); }

Device::Clock::time_point SimNetwork::now() const { return fabric_->world.schedule.now(); }

std::uint64_t SimNetwork::digest() const { return fabric_->world.schedule.digest(); }

}  // namespace iwarp::tcp_offload
