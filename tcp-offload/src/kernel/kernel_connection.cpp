#include "kernel/kernel_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "kernel/kernel_stream.hpp"

namespace iwarp::tcp_offload::kernel {

namespace asio = boost::asio;
using boost::system::error_code;

struct KernelConnection::State {
  State(asio::ip::tcp::socket s, ClosedInChildren c)
      : socket(std::move(s)), in_children(std::move(c)) {}

  asio::ip::tcp::socket socket;
  ClosedInChildren in_children;  // goes before it
  bool alive = true;  // false once the connection is being destroyed: handlers are dropped
};

namespace {

// Keeps the socket's state until Asio is done with the operation.
template <typename State>
auto report(std::shared_ptr<State> state, TransferHandler handler) {
  return [state = std::move(state), handler = std::move(handler)](error_code error,
                                                                  std::size_t n) mutable {
    if (state->alive) handler(from_asio(error), n);
  };
}

}  // namespace

KernelConnection::KernelConnection(asio::ip::tcp::socket socket, ClosedInChildren in_children,
                                   const SocketModes& before)
    : state_(std::make_shared<State>(std::move(socket), std::move(in_children))),
      local_(local_endpoint(state_->socket.native_handle())),
      remote_(remote_endpoint(state_->socket.native_handle())),
      before_(before) {}

KernelConnection::~KernelConnection() {
  state_->alive = false;
  close();
}

void KernelConnection::async_read_some(MutableBytes into, TransferHandler handler) {
  state_->socket.async_read_some(asio::buffer(into.data(), into.size()),
                                 report(state_, std::move(handler)));
}

void KernelConnection::async_read(MutableBytes into, TransferHandler handler) {
  asio::async_read(state_->socket, asio::buffer(into.data(), into.size()),
                   report(state_, std::move(handler)));
}

void KernelConnection::async_write(ConstBytes from, TransferHandler handler) {
  asio::async_write(state_->socket, asio::buffer(from.data(), from.size()),
                    report(state_, std::move(handler)));
}

void KernelConnection::cancel() {
  error_code ignored;
  state_->socket.cancel(ignored);
}

void KernelConnection::close() {
  error_code ignored;
  state_->in_children.release();
  state_->socket.close(ignored);
}

std::unique_ptr<Stream> KernelConnection::hand_over(ConstBytes already_read) {
  Socket socket = leave_reactor();
  if (!socket) return nullptr;
  return std::make_unique<KernelStream>(std::move(socket), already_read);
}

int KernelConnection::release_native() {
  Socket socket = leave_reactor();
  const int descriptor = socket.get();
  if (socket) set_modes(descriptor, before_);
  socket.give_back();
  return descriptor;
}

Socket KernelConnection::leave_reactor() {
  if (!state_->socket.is_open()) return {};
  error_code error;
  const int socket = state_->socket.release(error);
  if (error) return {};
  return {socket, std::move(state_->in_children)};
}

Result<std::unique_ptr<Connection>, std::error_code> make_connection(asio::io_context& context,
                                                                     Socket& socket) {
  const auto protocol = connected_protocol(socket.get());
  if (!protocol) return failure(protocol.error());
  const auto before = prepare_connected(socket.get());
  if (!before) return failure(before.error());
  asio::ip::tcp::socket connected(context);
  error_code error;
  connected.assign(*protocol, socket.get(), error);
  if (error) {
    set_modes(socket.get(), *before);
    return failure(from_asio(error));
  }
  return std::unique_ptr<Connection>(
      std::make_unique<KernelConnection>(std::move(connected), socket.hand_over(), *before));
}

}  // namespace iwarp::tcp_offload::kernel
