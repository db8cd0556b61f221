#pragma once

#include <memory>

#include "iwarp/tcp_offload/kernel_device.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

/// A listening socket that Asio watches.
class KernelAcceptor final : public Acceptor {
 public:
  struct State;

  KernelAcceptor(std::shared_ptr<State> state, const Endpoint& local);
  ~KernelAcceptor() override;

  void async_accept(ConnectionHandler handler) override;
  [[nodiscard]] Endpoint local_endpoint() const override { return local_; }
  void close() override;

 private:
  const std::shared_ptr<State> state_;  // shared with the operation under way
  const Endpoint local_;
};

/// Watches a socket that listens already.
Result<std::unique_ptr<Acceptor>, std::error_code> make_acceptor(boost::asio::io_context& context,
                                                                 const Endpoint& at, Socket socket,
                                                                 std::chrono::milliseconds pause);

}  // namespace iwarp::tcp_offload::kernel
