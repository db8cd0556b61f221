#pragma once

#include "fabric.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload::sim {

/// One host of a simulated network.
class SimDevice final : public Device {
 public:
  SimDevice(Fabric& fabric, const Fabric::Address& address)
      : fabric_(fabric), address_(address), program_(fabric.program(address)) {}

  [[nodiscard]] std::string_view name() const override { return "sim"; }
  [[nodiscard]] Offloads offloads() const override { return {}; }
  Result<std::unique_ptr<Acceptor>, std::error_code> listen(const Endpoint& at,
                                                            const ListenTerms& terms) override;
  [[nodiscard]] std::unique_ptr<ConnectAttempt> async_connect_from(
      const LocalEnd& from, const Endpoint& to, ConnectionHandler handler) override;
  Result<std::unique_ptr<Connection>, std::error_code> adopt(int socket) override;
  std::unique_ptr<Timer> make_timer() override;
  [[nodiscard]] Clock::time_point now() const override { return fabric_.world.schedule.now(); }
  void post(Handler<> task) override;

 private:
  [[nodiscard]] Fabric::Address resolve(const Fabric::Address& address) const;

  Fabric& fabric_;
  const Fabric::Address address_;
  Program& program_;
};

}  // namespace iwarp::tcp_offload::sim
