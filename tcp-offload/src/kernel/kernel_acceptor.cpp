#include "kernel/kernel_acceptor.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <new>
#include <utility>

#include "kernel/kernel_connection.hpp"
#include "kernel/operation_memory.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

namespace asio = boost::asio;
using boost::system::error_code;

struct KernelAcceptor::State {
  State(asio::io_context& c, std::chrono::milliseconds p)
      : context(c), acceptor(c), timer(c), pause(p) {}

  asio::io_context& context;
  asio::ip::tcp::acceptor acceptor;
  process::ClosedInChildren in_children;  // goes before it
  asio::steady_timer timer;
  OperationMemory memory;  // of the wait for a connection, which must not fail for lack of it
  const std::chrono::milliseconds pause;
  bool pause_first = false;  // the last accept ran out of something
  bool alive = true;         // false once the acceptor is being destroyed
};

namespace {

using AcceptorStatePtr = std::shared_ptr<KernelAcceptor::State>;

enum class Verdict { kTryAgain, kPauseAndReport, kReport };

// accept(2) also reports what befell a connection that had been waiting: that one is skipped.
Verdict judge(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENOTCONN:  // it died while it waited
      return Verdict::kTryAgain;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: return Verdict::kPauseAndReport;
    default: return Verdict::kReport;
  }
}

void wait_for_connection(AcceptorStatePtr state, ConnectionHandler handler);

void fail(KernelAcceptor::State& state, ConnectionHandler& handler, std::error_code error) {
  state.pause_first = judge(error.value()) == Verdict::kPauseAndReport;
  handler(error, nullptr);
}

Result<std::unique_ptr<Connection>, std::error_code> accept_connection(
    KernelAcceptor::State& state) try {
  auto socket = accept_socket(state.acceptor.native_handle());
  if (!socket) return failure(socket.error());
  return make_connection(state.context, *socket);
} catch (const std::bad_alloc&) {
  return failure(std::error_code(ENOMEM, std::system_category()));
}

void accept_one(AcceptorStatePtr state, ConnectionHandler handler) {
  auto connection = accept_connection(*state);
  if (connection) return handler({}, std::move(*connection));
  if (judge(connection.error().value()) != Verdict::kTryAgain) {
    return fail(*state, handler, connection.error());
  }
  wait_for_connection(std::move(state), std::move(handler));
}

void wait_for_connection(AcceptorStatePtr state, ConnectionHandler handler) {
  auto& acceptor = state->acceptor;
  auto& memory = state->memory;
  acceptor.async_wait(asio::ip::tcp::acceptor::wait_read,
                      memory.used_by([state = std::move(state),
                                      handler = std::move(handler)](error_code error) mutable {
                        if (!state->alive) return;
                        if (!state->acceptor.is_open()) error = asio::error::operation_aborted;
                        if (error) return fail(*state, handler, from_asio(error));
                        accept_one(std::move(state), std::move(handler));
                      }));
}

void pause_then_wait(AcceptorStatePtr state, ConnectionHandler handler) {
  state->pause_first = false;
  auto& timer = state->timer;
  timer.expires_after(state->pause);
  timer.async_wait([state = std::move(state), handler = std::move(handler)](error_code) mutable {
    if (!state->alive) return;
    if (!state->acceptor.is_open()) {
      return fail(*state, handler, from_asio(asio::error::operation_aborted));
    }
    wait_for_connection(std::move(state), std::move(handler));
  });
}

}  // namespace

KernelAcceptor::KernelAcceptor(AcceptorStatePtr state, const Endpoint& local)
    : state_(std::move(state)), local_(local) {}

KernelAcceptor::~KernelAcceptor() {
  state_->alive = false;
  close();
}

void KernelAcceptor::async_accept(ConnectionHandler handler) {
  if (state_->pause_first && state_->acceptor.is_open()) {
    return pause_then_wait(state_, std::move(handler));
  }
  wait_for_connection(state_, std::move(handler));
}

void KernelAcceptor::close() {
  error_code ignored;
  state_->in_children.release();
  state_->acceptor.close(ignored);
  state_->timer.cancel();
}

Result<std::unique_ptr<Acceptor>, std::error_code> make_acceptor(asio::io_context& context,
                                                                 const Endpoint& at, Socket socket,
                                                                 std::chrono::milliseconds pause) {
  const auto local = bound_endpoint(socket.get());
  if (!local) return failure(local.error());
  auto state = std::make_shared<KernelAcceptor::State>(context, pause);
  error_code error;
  state->acceptor.assign(at.protocol(), socket.get(), error);
  if (error) return failure(from_asio(error));
  state->in_children = socket.hand_over();
  return std::unique_ptr<Acceptor>(std::make_unique<KernelAcceptor>(std::move(state), *local));
}

}  // namespace iwarp::tcp_offload::kernel
