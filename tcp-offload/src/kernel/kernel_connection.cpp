#include "kernel/kernel_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <new>
#include <utility>

#include "kernel/kernel_stream.hpp"

namespace iwarp::tcp_offload::kernel {

namespace asio = boost::asio;
using boost::system::error_code;

struct KernelConnection::State {
  explicit State(asio::io_context& context) : socket(context) {}

  asio::ip::tcp::socket socket;
  process::ClosedInChildren in_children;  // goes before it
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

KernelConnection::KernelConnection(asio::io_context& context, const Ends& ends,
                                   const SocketModes& before)
    : state_(std::make_shared<State>(context)),
      local_(ends.local),
      remote_(ends.remote),
      before_(before) {}

std::error_code KernelConnection::take(Socket& socket) {
  error_code error;
  state_->socket.assign(local_.protocol(), socket.get(), error);
  if (error) return from_asio(error);
  state_->in_children = socket.hand_over();
  return {};
}

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

std::unique_ptr<Stream> KernelConnection::hand_over(ConstBytes already_read,
                                                    const MpaTerms& /*negotiated*/) try {
  Socket socket = leave_reactor();
  if (!socket) return nullptr;
  return std::make_unique<KernelStream>(std::move(socket), Ends{local_, remote_}, already_read);
} catch (const std::bad_alloc&) {
  return nullptr;
}

int KernelConnection::release_native() {
  Socket socket = leave_reactor();
  const int descriptor = socket.get();
  if (socket) restore_modes(descriptor, before_);
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

namespace {

Result<std::unique_ptr<Connection>, std::error_code> try_to_make(asio::io_context& context,
                                                                 const Ends& ends,
                                                                 const SocketModes& before,
                                                                 Socket& socket) try {
  auto connection = std::make_unique<KernelConnection>(context, ends, before);
  if (const auto error = connection->take(socket)) return failure(error);
  return std::unique_ptr<Connection>(std::move(connection));
} catch (const std::bad_alloc&) {
  return failure(std::error_code(ENOMEM, std::system_category()));
}

}  // namespace

Result<std::unique_ptr<Connection>, std::error_code> make_connection(asio::io_context& context,
                                                                     Socket& socket) {
  const auto ends = connected_ends(socket.get());
  if (!ends) return failure(ends.error());
  const auto before = prepare_connected(socket.get());
  if (!before) return failure(before.error());
  auto connection = try_to_make(context, *ends, *before, socket);
  if (!connection) restore_modes(socket.get(), *before);
  return connection;
}

}  // namespace iwarp::tcp_offload::kernel
