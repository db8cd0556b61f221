#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "iwarp/tcp_offload/kernel_device.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

/// A connection in streaming mode: an Asio socket.
class KernelConnection final : public Connection {
 public:
  /// None yet: take() is to follow. `before` is how release_native() leaves the socket.
  KernelConnection(boost::asio::io_context& context, const Ends& ends, const SocketModes& before);
  ~KernelConnection() override;

  /// The socket, which has those ends. On failure `socket` still owns it.
  std::error_code take(Socket& socket);

  void async_read_some(MutableBytes into, TransferHandler handler) override;
  void async_read(MutableBytes into, TransferHandler handler) override;
  void async_write(ConstBytes from, TransferHandler handler) override;
  void cancel() override;
  void close() override;
  std::unique_ptr<Stream> hand_over(ConstBytes already_read, const MpaTerms& negotiated) override;
  int release_native() override;
  [[nodiscard]] Endpoint local() const override { return local_; }
  [[nodiscard]] Endpoint remote() const override { return remote_; }

 private:
  struct State;
  Socket leave_reactor();

  const std::shared_ptr<State> state_;  // shared with the operations under way
  const Endpoint local_;
  const Endpoint remote_;
  const SocketModes before_;
};

/// Makes a connection of a connected socket. On failure, which may be that of memory, `socket`
/// still owns it.
Result<std::unique_ptr<Connection>, std::error_code> make_connection(
    boost::asio::io_context& context, Socket& socket);

}  // namespace iwarp::tcp_offload::kernel
