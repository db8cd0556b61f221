#include "connect.hpp"

#include <cerrno>
#include <utility>

#include "connection.hpp"
#include "listener.hpp"

namespace iwarp::tcp_offload::sim {
namespace {

// A request that finds the listener's queue full is dropped and repeated, as TCP does.
constexpr Nanoseconds kRetry = std::chrono::seconds(1);

struct State {
  Fabric& fabric;
  Program& program;
  Endpoint from;
  Endpoint to;
  ConnectionHandler handler;
  bool cancelled = false;
  bool alive = true;  // false once the attempt is being destroyed

  [[nodiscard]] bool wanted() const { return alive && !cancelled; }
};

using StatePtr = std::shared_ptr<State>;

// Once: its handler is empty afterwards.
void report(const StatePtr& state, std::error_code error, std::unique_ptr<Connection> connection) {
  auto tell = [state, error, made = std::move(connection)]() mutable {
    const bool outdated = state->cancelled && error != std::errc::operation_canceled;
    if (!state->alive || !state->handler || outdated) return;
    std::exchange(state->handler, ConnectionHandler())(error, std::move(made));
  };
  state->program.call(Program::Source::kOther, std::move(tell));
}

class Attempt final : public ConnectAttempt {
 public:
  explicit Attempt(StatePtr state) : state_(std::move(state)) {}
  ~Attempt() override { state_->alive = false; }

  void cancel() override {
    if (std::exchange(state_->cancelled, true)) return;
    state_->fabric.world.schedule.soon(
        [state = state_] { report(state, system_error(ECANCELED), nullptr); });
  }

 private:
  const StatePtr state_;
};

void fail_later(const StatePtr& state, int error) {
  state->fabric.world.schedule.after(state->fabric.options.latency, [state, error] {
    if (state->wanted()) report(state, system_error(error), nullptr);
  });
}

void establish(const StatePtr& state, Listener& listener) {
  Fabric& fabric = state->fabric;
  Link& link = fabric.make_link(state->from, state->to);
  listener.add(LinkEnd(link, SimSide::kAcceptor));
  fabric.world.schedule.after(
      fabric.options.latency, [state, end = LinkEnd(link, SimSide::kConnector)]() mutable {
        if (!state->wanted()) return;
        report(state, {}, std::make_unique<SimConnection>(std::move(end), state->program));
      });
}

// The request reaches the other host.
void arrive(const StatePtr& state) {
  if (!state->wanted()) return;
  Fabric& fabric = state->fabric;
  if (!fabric.has_device(state->to.address())) return fail_later(state, EHOSTUNREACH);
  const auto listener = fabric.listeners.find(state->to);
  if (listener == fabric.listeners.end()) return fail_later(state, ECONNREFUSED);
  if (listener->second->has_room()) return establish(state, *listener->second);
  fabric.world.schedule.after(kRetry, [state] { arrive(state); });
}

}  // namespace

std::unique_ptr<ConnectAttempt> start_connect(Fabric& fabric, const Endpoint& from,
                                              const Endpoint& to, const Fabric::Address& own,
                                              Program& program, ConnectionHandler handler) {
  const auto state = std::make_shared<State>(State{fabric, program, from, to, std::move(handler)});
  if (from.address() != own) {
    fail_later(state, EADDRNOTAVAIL);
    return std::make_unique<Attempt>(state);
  }
  fabric.world.schedule.after(fabric.options.latency, [state] { arrive(state); });
  return std::make_unique<Attempt>(state);
}

}  // namespace iwarp::tcp_offload::sim
