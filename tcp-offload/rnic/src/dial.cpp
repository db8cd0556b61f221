// The side that connects: an address is resolved, a route is found, and the peer is asked.
#include <algorithm>
#include <cerrno>
#include <climits>

#include "connection_steps.hpp"
#include "iwarp/base/deadline.hpp"

namespace iwarp::rnic {
namespace {

using verbs::EndedBy;
using verbs::Outcome;

// librdmacm takes its addresses as if it might change them.
sockaddr* address_of(const verbs::Endpoint& endpoint) {
  return const_cast<sockaddr*>(endpoint.data());
}

bool is_unspecified(const verbs::Endpoint& endpoint) {
  return endpoint.address().is_unspecified() && endpoint.port() == 0;
}

constexpr std::chrono::milliseconds kBetweenAttempts{50};

}  // namespace

Outcome<void> Connection::connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options) {
  verbs::ConnectOptions with = options;
  verbs::Endpoint peer = to;
  if (!advance(State::kIdle, State::kConnecting)) {
    return verbs::fail(std::errc::already_connected,
                       "queue pair " + std::to_string(qp_->number()) + " is not idle");
  }
  to_ = std::move(peer);
  options_ = std::move(with);
  const auto bounded = [](std::chrono::milliseconds time) {
    return std::clamp<Clock::duration>(time, Clock::duration::zero(), kLongestWait);
  };
  deadline_ = Clock::now() + bounded(options.timeout);
  retry_until_ = Clock::now() + bounded(options.retry_refused);
  try {
    soon([](Connection& self) { self.begin(); });
  } catch (...) {
    state_ = State::kIdle;
    throw;
  }
  return {};
}

void Connection::begin() {
  later(deadline_ - Clock::now(), [](Connection& self) {
    self.fail_step(self.to_.to_string() + " has not answered within " +
                       std::to_string(self.options_.timeout.count()) + " ms",
                   ETIMEDOUT);
  });
  dial();
}

int Connection::milliseconds_left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, INT_MAX));
}

void Connection::dial() {
  if (state() != State::kConnecting) return;
  if (is_inside()) return later(kBetweenAttempts, [](Connection& self) { self.dial(); });
  drop_id();  // of the attempt before, where a thread was inside when that failed
  auto made = host_->loop().make_id(weak_from_this());
  if (!made) return fail_start({Event::Kind::kFailed, made.error(), {}});
  {
    const std::lock_guard lock(id_mutex_);
    if (!released_) id_ = std::move(*made);
    owed_ = false;
  }
  if (*made) return host_->loop().forget(*made);
  const RdmaCore& core = adapter().core;
  sockaddr* const from = is_unspecified(options_.from) ? nullptr : address_of(options_.from);
  const int unset = with_id([&](rdma_cm_id* id) {
    if (!options_.traffic_class) return 0;
    return set_option(core, id, RDMA_OPTION_ID_TOS, *options_.traffic_class);
  });
  if (unset != 0) return fail_step("the traffic class cannot be set", unset);
  const int error = with_id([&](rdma_cm_id* id) {
    return core.rdma_resolve_addr(id, from, address_of(to_), milliseconds_left());
  });
  if (error != 0) fail_step("no way leads to " + to_.to_string(), error);
}

void Connection::on_address() {
  bool ours = false;
  const int error = with_id([&](rdma_cm_id* id) {
    ours = id->verbs == adapter().context;
    return ours ? adapter().core.rdma_resolve_route(id, milliseconds_left()) : 0;
  });
  if (!ours) {
    return fail_step("the way to " + to_.to_string() + " leads by another adapter", EHOSTUNREACH);
  }
  if (error != 0) fail_step("no route leads to " + to_.to_string(), error);
}

void Connection::on_route() {
  CmLoop::Task apart = [self = shared_from_this()] { self->connect_apart(); };
  {
    const std::lock_guard lock(id_mutex_);
    if (!id_ || state() != State::kConnecting) return;
    begin_call();
  }
  host_->loop().run_apart(std::move(apart));
}

// siw waits inside of this until the peer's TCP has answered.
void Connection::connect_apart() {
  rdma_cm_id* id = nullptr;
  {
    const std::lock_guard lock(id_mutex_);
    id = id_.get();  // which stays as long as a thread is inside
  }
  rdma_conn_param parameters = parameters_with(options_.ird, options_.ord);
  on_call_returned(adapter().core.rdma_connect(id, &parameters) == 0 ? 0 : errno);
}

// With id_mutex_ held. From then on the kernel owes an outcome, and destroying what it works with
// waits for that.
void Connection::begin_call() { inside_ = owed_ = true; }

// The program may have given it up meanwhile: then the adapter still has what was left to this.
void Connection::on_call_returned(int error) {
  bool released = false;
  {
    const std::lock_guard lock(id_mutex_);
    inside_ = false;
    owed_ = owed_ && error == 0;
    released = released_;
  }
  returned_.notify_all();
  if (released) return destroy_apart();
  if (state() == State::kError) return drop_id();
  if (error != 0) ask([error](Connection& self) { self.fail_call(error); });
}

void Connection::fail_call(int error) {
  if (draws_again(error)) return;
  const std::string peer = to_.to_string();
  fail_step(passive_ ? "the connection from " + peer + " cannot be accepted"
                     : peer + " cannot be connected to",
            error);
}

// The port that librdmacm has drawn may be that of a TCP socket. siw learns so when it binds one of
// its own to it, or when it connects that.
bool Connection::draws_again(int error) {
  const bool is_taken = error == EADDRINUSE || error == EADDRNOTAVAIL;
  if (passive_ || !is_taken || options_.from.port() != 0) return false;
  if (state() != State::kConnecting || draws_left_ == 0) return false;
  --draws_left_;
  dial();
  return true;
}

// Nobody listens yet, it seems: the peer's program may be about to.
bool Connection::tries_again(const verbs::Error& error) {
  if (passive_ || error.code != std::errc::connection_refused) return false;
  if (state() != State::kConnecting || Clock::now() >= std::min(retry_until_, deadline_))
    return false;
  drop_id();
  later(kBetweenAttempts, [](Connection& self) { self.dial(); });
  return true;
}

void Connection::fail_step(const std::string& what, int error) {
  if (state() != State::kConnecting) return;
  verbs::Error why = adapter().error(what, error);
  if (!tries_again(why)) fail_start({Event::Kind::kFailed, std::move(why), {}});
}

void Connection::fail_start(Event event) {
  if (state() != State::kConnecting || std::exchange(ends_, true)) return;
  failed_start_ = std::move(event);
  finish_failed_start();
}

void Connection::finish_failed_start() {
  const bool rejected = failed_start_->kind == Event::Kind::kRejected;
  explain(rejected ? EndedBy::kPeerReject : EndedBy::kNetwork, false, failed_start_->error.message);
  give_up_start();
  drop_id();
  tell(*failed_start_);
  failed_start_.reset();
}

}  // namespace iwarp::rnic
