#include "iwarp/sim/mpa_device.hpp"

#include <utility>

#include "mpa/mpa_stream.hpp"

namespace iwarp::tcp_offload {

namespace sim {
namespace {

/// A connection in streaming mode, in which there is nothing to do.
class MpaConnection final : public Connection {
 public:
  MpaConnection(std::unique_ptr<Connection> inner, Offloads offloads)
      : inner_(std::move(inner)), offloads_(offloads) {}

  void async_read_some(MutableBytes into, TransferHandler handler) override {
    inner_->async_read_some(into, std::move(handler));
  }
  void async_read(MutableBytes into, TransferHandler handler) override {
    inner_->async_read(into, std::move(handler));
  }
  void async_write(ConstBytes from, TransferHandler handler) override {
    inner_->async_write(from, std::move(handler));
  }
  void cancel() override { inner_->cancel(); }
  void close() override { inner_->close(); }
  std::unique_ptr<Stream> hand_over(ConstBytes already_read, const MpaTerms& negotiated) override {
    return offload_mpa(inner_->hand_over(already_read), negotiated, offloads_);
  }
  int release_native() override { return inner_->release_native(); }
  [[nodiscard]] Endpoint local() const override { return inner_->local(); }
  [[nodiscard]] Endpoint remote() const override { return inner_->remote(); }

 private:
  const std::unique_ptr<Connection> inner_;
  const Offloads offloads_;
};

std::unique_ptr<Connection> with_mpa(std::unique_ptr<Connection> connection, Offloads offloads) {
  if (connection == nullptr) return nullptr;
  return std::make_unique<MpaConnection>(std::move(connection), offloads);
}

ConnectionHandler with_mpa(ConnectionHandler handler, Offloads offloads) {
  return [offloads, handler = std::move(handler)](std::error_code error,
                                                  std::unique_ptr<Connection> connection) mutable {
    handler(error, with_mpa(std::move(connection), offloads));
  };
}

class MpaAcceptor final : public Acceptor {
 public:
  MpaAcceptor(std::unique_ptr<Acceptor> inner, Offloads offloads)
      : inner_(std::move(inner)), offloads_(offloads) {}

  void async_accept(ConnectionHandler handler) override {
    inner_->async_accept(with_mpa(std::move(handler), offloads_));
  }
  [[nodiscard]] Endpoint local_endpoint() const override { return inner_->local_endpoint(); }
  void close() override { inner_->close(); }

 private:
  const std::unique_ptr<Acceptor> inner_;
  const Offloads offloads_;
};

}  // namespace
}  // namespace sim

Result<std::unique_ptr<Acceptor>, std::error_code> MpaDevice::listen(const Endpoint& at,
                                                                     const ListenTerms& terms) {
  auto acceptor = inner_.listen(at, terms);
  if (!acceptor) return failure(acceptor.error());
  return std::unique_ptr<Acceptor>(
      std::make_unique<sim::MpaAcceptor>(std::move(*acceptor), offloads_));
}

std::unique_ptr<ConnectAttempt> MpaDevice::async_connect_from(const LocalEnd& from,
                                                              const Endpoint& to,
                                                              ConnectionHandler handler) {
  return inner_.async_connect_from(from, to, sim::with_mpa(std::move(handler), offloads_));
}

Result<std::unique_ptr<Connection>, std::error_code> MpaDevice::adopt(int socket) {
  auto connection = inner_.adopt(socket);
  if (!connection) return connection;
  return sim::with_mpa(std::move(*connection), offloads_);
}

std::unique_ptr<Stream> offload_mpa(std::unique_ptr<Stream> wire, const MpaTerms& negotiated,
                                    Offloads offloads) {
  const MpaTerms host = left_to_host(negotiated, offloads);
  if (wire == nullptr || host == negotiated) return wire;
  return std::make_unique<sim::MpaStream>(std::move(wire), negotiated, host);
}

}  // namespace iwarp::tcp_offload
