#include "kernel/kernel_acceptor.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <utility>

#include "kernel/kernel_connection.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload::kernel {

namespace asio = boost::asio;
using boost::system::error_code;

struct KernelAcceptor::State {
  State(asio::io_context& c, std::chrono::milliseconds p)
      : context(c), acceptor(c), timer(c), pause(p) {}

  asio::io_context& context;
  asio::ip::tcp::acceptor acceptor;
  ClosedInChildren in_children;  // goes before it
  asio::steady_timer timer;
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
    case ENETUNREACH: return Verdict::kTryAgain;
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

void accept_one(AcceptorStatePtr state, ConnectionHandler handler) {
  auto socket = accept_socket(state->acceptor.native_handle());
  if (!socket) {
    if (judge(socket.error().value()) != Verdict::kTryAgain) {
      return fail(*state, handler, socket.error());
    }
    return wait_for_connection(std::move(state), std::move(handler));
  }
  auto connection = make_connection(state->context, *socket);
  if (!connection) {  // it died while it waited
    return wait_for_connection(std::move(state), std::move(handler));
  }
  handler({}, std::move(*connection));
}

void wait_for_connection(AcceptorStatePtr state, ConnectionHandler handler) {
  auto& acceptor = state->acceptor;
  acceptor.async_wait(
      asio::ip::tcp::acceptor::wait_read,
      [state = std::move(state), handler = std::move(handler)](error_code error) mutable {
        if (!state->alive) return;
        if (!state->acceptor.is_open()) error = asio::error::operation_aborted;
        if (error) return fail(*state, handler, from_asio(error));
        accept_one(std::move(state), std::move(handler));
      });
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

KernelAcceptor::KernelAcceptor(AcceptorStatePtr state)
    : state_(std::move(state)), local_(kernel::local_endpoint(state_->acceptor.native_handle())) {}

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
  auto state = std::make_shared<KernelAcceptor::State>(context, pause);
  error_code error;
  state->acceptor.assign(at.protocol(), socket.get(), error);
  if (error) return failure(from_asio(error));
  state->in_children = socket.hand_over();
  return std::unique_ptr<Acceptor>(std::make_unique<KernelAcceptor>(std::move(state)));
}

}  // namespace iwarp::tcp_offload::kernel
