#include "sim/connect.hpp"

#include <cerrno>
#include <utility>

#include "sim/connection.hpp"
#include "sim/listener.hpp"

namespace iwarp::tcp_offload::sim {
namespace {

// A request that finds the listener's queue full is dropped and repeated, as TCP does.
constexpr Nanoseconds kRetry = std::chrono::seconds(1);

struct State {
  Fabric& fabric;
  Endpoint from;
  Endpoint to;
  ConnectionHandler handler;
  bool cancelled = false;
  bool alive = true;  // false once the attempt is being destroyed

  [[nodiscard]] bool wanted() const { return alive && !cancelled; }
};

using StatePtr = std::shared_ptr<State>;

void report(State& state, std::error_code error, std::unique_ptr<Connection> connection) {
  std::exchange(state.handler, ConnectionHandler())(error, std::move(connection));
}

class Attempt final : public ConnectAttempt {
 public:
  explicit Attempt(StatePtr state) : state_(std::move(state)) {}
  ~Attempt() override { state_->alive = false; }

  void cancel() override {
    if (std::exchange(state_->cancelled, true)) return;
    state_->fabric.world.schedule.soon([state = state_] {
      if (state->alive && state->handler) report(*state, system_error(ECANCELED), nullptr);
    });
  }

 private:
  const StatePtr state_;
};

void fail_later(const StatePtr& state, int error) {
  state->fabric.world.schedule.after(state->fabric.options.latency, [state, error] {
    if (state->wanted()) report(*state, system_error(error), nullptr);
  });
}

void establish(const StatePtr& state, Listener& listener) {
  Fabric& fabric = state->fabric;
  Link& link = fabric.make_link(state->from, state->to);
  listener.add(LinkEnd(link, SimSide::kAcceptor));
  fabric.world.schedule.after(fabric.options.latency,
                              [state, end = LinkEnd(link, SimSide::kConnector)]() mutable {
                                if (!state->wanted()) return;
                                report(*state, {}, std::make_unique<SimConnection>(std::move(end)));
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
                                              ConnectionHandler handler) {
  const auto state = std::make_shared<State>(State{fabric, from, to, std::move(handler)});
  if (from.address() != own) {
    fail_later(state, EADDRNOTAVAIL);
    return std::make_unique<Attempt>(state);
  }
  fabric.world.schedule.after(fabric.options.latency, [state] { arrive(state); });
  return std::make_unique<Attempt>(state);
}

}  // namespace iwarp::tcp_offload::sim
