#include "device.hpp"

#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

#include "connect.hpp"
#include "listener.hpp"
#include "timer.hpp"

namespace iwarp::tcp_offload::sim {

// The wildcard and the loopback addresses all mean this host.
Fabric::Address SimDevice::resolve(const Fabric::Address& address) const {
  return address.is_unspecified() || address.is_loopback() ? address_ : address;
}

Result<std::unique_ptr<Acceptor>, std::error_code> SimDevice::listen(const Endpoint& at,
                                                                     const ListenTerms& terms) {
  if (resolve(at.address()) != address_) return failure(system_error(EADDRNOTAVAIL));
  const std::uint16_t port = at.port() != 0 ? at.port() : fabric_.free_port(address_);
  const Endpoint bound(address_, port);
  if (fabric_.listeners.contains(bound)) return failure(system_error(EADDRINUSE));
  return std::unique_ptr<Acceptor>(std::make_unique<SimAcceptor>(
      fabric_, std::make_shared<Listener>(fabric_.world, program_, terms.backlog), bound,
      Endpoint(at.address(), port)));
}

std::unique_ptr<ConnectAttempt> SimDevice::async_connect_from(const LocalEnd& from,
                                                              const Endpoint& to,
                                                              ConnectionHandler handler) {
  const std::uint16_t port = from.at.port() != 0 ? from.at.port() : fabric_.free_port(address_);
  return start_connect(fabric_, Endpoint(resolve(from.at.address()), port),
                       Endpoint(resolve(to.address()), to.port()), address_, program_,
                       std::move(handler));
}

Result<std::unique_ptr<Connection>, std::error_code> SimDevice::adopt(int /*socket*/) {
  return failure(std::make_error_code(std::errc::not_supported));
}

std::unique_ptr<Timer> SimDevice::make_timer() {
  return std::make_unique<SimTimer>(fabric_.world.schedule, program_);
}

void SimDevice::post(Handler<> task) {
  fabric_.world.schedule.soon([this, task = std::move(task)]() mutable {
    program_.call(Program::Source::kOther, std::move(task));
  });
}

}  // namespace iwarp::tcp_offload::sim
