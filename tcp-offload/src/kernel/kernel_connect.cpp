#include "kernel/kernel_connect.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "kernel/kernel_connection.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

struct State {
  State(asio::io_context& c, ConnectionHandler h) : context(c), socket(c), handler(std::move(h)) {}

  asio::io_context& context;
  asio::ip::tcp::socket socket;
  process::ClosedInChildren in_children;  // goes before it
  ConnectionHandler handler;
  bool cancelled = false;
  bool alive = true;  // false once the attempt is being destroyed
};

using StatePtr = std::shared_ptr<State>;

class Attempt final : public ConnectAttempt {
 public:
  explicit Attempt(StatePtr state) : state_(std::move(state)) {}
  ~Attempt() override {
    state_->alive = false;
    close();
  }

  void cancel() override {
    state_->cancelled = true;
    close();
  }

 private:
  void close() {
    error_code ignored;
    state_->in_children.release();
    state_->socket.close(ignored);
  }

  const StatePtr state_;
};

std::error_code open_for_connect(State& state, const KernelOptions& options, const LocalEnd& from,
                                 const Endpoint& to) {
  auto socket = open_socket(to.protocol(), options);
  if (!socket) return socket.error();
  if (const auto error = set_traffic_class(socket->get(), to.protocol(), from.traffic_class)) {
    return error;
  }
  if (const auto error = bind_before_connect(socket->get(), from.at)) return error;
  error_code error;
  state.socket.assign(to.protocol(), socket->get(), error);
  if (error) return from_asio(error);
  state.in_children = socket->hand_over();
  return {};
}

// TCP connects a socket to itself if it picks its own target as the local port. Nothing listens
// there.
bool is_connected_to_itself(const Connection& connection) {
  return connection.local() == connection.remote();
}

Result<std::unique_ptr<Connection>, std::error_code> take_connection(State& state) {
  error_code error;
  const int released = state.socket.release(error);
  if (error) return failure(from_asio(error));
  Socket socket(released, std::move(state.in_children));
  auto connection = make_connection(state.context, socket);
  if (connection && is_connected_to_itself(**connection)) {
    return failure(std::error_code(ECONNREFUSED, std::system_category()));
  }
  return connection;
}

void finish(State& state, std::error_code error) {
  if (!state.alive) return;
  ConnectionHandler handler = std::move(state.handler);
  if (state.cancelled) error = {ECANCELED, std::system_category()};
  if (error) {
    error_code ignored;
    state.in_children.release();
    state.socket.close(ignored);
    return handler(error, nullptr);
  }
  auto connection = take_connection(state);
  if (!connection) return handler(connection.error(), nullptr);
  handler({}, std::move(*connection));
}

}  // namespace

std::unique_ptr<ConnectAttempt> start_connect(asio::io_context& context,
                                              const KernelOptions& options, const LocalEnd& from,
                                              const Endpoint& to, ConnectionHandler handler) {
  auto state = std::make_shared<State>(context, std::move(handler));
  auto attempt = std::make_unique<Attempt>(state);
  if (const auto error = open_for_connect(*state, options, from, to)) {
    asio::post(context, [state, error] { finish(*state, error); });
  } else {
    state->socket.async_connect(to, [state](error_code e) { finish(*state, from_asio(e)); });
  }
  return attempt;
}

}  // namespace iwarp::tcp_offload::kernel
