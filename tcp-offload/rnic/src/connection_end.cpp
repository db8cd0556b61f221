// How connections end: as the program asks, or as the peer, the network or the adapter have it.
#include "connection_steps.hpp"

namespace iwarp::rnic {
namespace {

using verbs::EndedBy;

constexpr std::chrono::milliseconds kLook{1};
constexpr std::chrono::milliseconds kReturn{200};
// Adapters flush within microseconds. What they have not told after this they do not tell.
constexpr int kLooksForFlushed = 200;

std::string number_of(const WorkRing::Fault& fault) {
  return "status " + std::to_string(fault.status) + ", vendor error " +
         std::to_string(fault.vendor_error);
}

}  // namespace

// ---- What the program asks for ----

void Connection::disconnect() {
  if (state() == State::kConnecting || state() == State::kIdle) return abort();
  explain(EndedBy::kProgram, true, "disconnected here");
  if (!advance(State::kRts, State::kClosing)) return;
  qp_->sends().close();
  linger_until_ = Clock::now() + linger_;
  ask([](Connection& self) { self.finish_then_disconnect(); });
}

void Connection::close() {
  if (state() == State::kError) return;
  if (state() == State::kConnecting || state() == State::kIdle) return abort();
  explain(EndedBy::kProgram, true, "disconnected here");
  ask([](Connection& self) { self.end_at_once({}); });
}

void Connection::abort() {
  if (state() == State::kError) return;
  if (advance(State::kIdle, State::kTerminate)) {
    explain(EndedBy::kProgram, false, "aborted here");
    return give_up_posted();
  }
  explain(EndedBy::kProgram, false, "aborted here");
  ask([](Connection& self) {
    const auto aborted = error_of(std::errc::connection_aborted, "aborted here");
    if (self.state() == State::kConnecting) {
      return self.fail_start({Event::Kind::kFailed, aborted, {}});
    }
    self.end_at_once(aborted);
  });
}

void Connection::release() {
  std::shared_ptr<const verbs::ConnectionHandler> unused;  // destroyed without a lock
  {
    const std::lock_guard lock(mutex_);
    unused.swap(on_event_);
  }
  explain(EndedBy::kProgram, true, "the queue pair was destroyed here");
  const State before = state_.exchange(State::kError);
  bool inside = false, owed = false;
  {
    std::unique_lock lock(id_mutex_);
    released_ = true;
    // Once there is a connection the call is about to return. What it does not leave in time it
    // ends itself, as in a start-up; the adapter places nothing any more then.
    const bool connected = before == State::kRts || before == State::kClosing;
    if (connected) returned_.wait_for(lock, kReturn, [this] { return !inside_; });
    inside = inside_;
    owed = owed_;
  }
  if (inside || owed) {
    give_up_start();
    qp_->discard();
    // The thread that is inside of a call does the rest.
    return inside ? void() : destroy_apart();
  }
  qp_->destroy();
  drop_id();
}

// The kernel may wait for its peer in this.
void Connection::destroy_apart() {
  const auto destroy = [](Connection& self) {
    self.qp_->destroy();
    self.drop_id();
  };
  try {
    host_->loop().run_apart([self = shared_from_this(), destroy] { destroy(*self); });
  } catch (const std::bad_alloc&) {
    destroy(*this);
  }
}

// ---- The loop's thread ----

// Adapters cut short what they have not sent when a connection ends.
void Connection::finish_then_disconnect() {
  if (state() != State::kClosing) return;
  if (!qp_->finish_sends() && Clock::now() < linger_until_) {
    return later(kLook, [](Connection& self) { self.finish_then_disconnect(); });
  }
  const int error = with_id(adapter().core.rdma_disconnect);
  if (error != 0) return end(adapter().error("the connection cannot be ended", error));
  later(linger_, [](Connection& self) {
    if (self.state() != State::kClosing) return;
    self.end(error_of(std::errc::timed_out, "the peer did not close the connection in time"));
  });
}

void Connection::end_at_once(verbs::Error error) {
  if ((state() != State::kRts && state() != State::kClosing) || ends_) return;
  qp_->flush();
  with_id(adapter().core.rdma_disconnect);
  end(std::move(error));
}

void Connection::on_disconnected() {
  if (state() == State::kConnecting) return fail_step("the peer closed the connection", ECONNRESET);
  if (ends_) return;
  const bool had_all = qp_->finish_sends();
  qp_->flush();
  qp_->is_flushed();  // what it has told is known
  verbs::Error why = why_disconnected();
  if (!why.code && (!had_all || qp_->sends().ring().has_flushed())) {
    why = error_of(std::errc::connection_reset, "the connection ended before all was sent");
  }
  if (why.code) explain(EndedBy::kNetwork, false, why.message);
  if (!why.code) explain(EndedBy::kPeerFin, true, "the peer closed the connection");
  end(std::move(why));
}

// An adapter tells of the end as of one, whatever its cause.
verbs::Error Connection::why_disconnected() {
  const WorkRing::Fault fault = qp_->sends().ring().fault();
  if (fault.status != IBV_WC_SUCCESS) {
    return error_of(std::errc::connection_reset,
                    adapter().name +
                        ": a request failed: " + adapter().core.ibv_wc_status_str(fault.status) +
                        " (" + number_of(fault) + ")");
  }
  const std::lock_guard lock(mutex_);
  if (fault_) return error_of(std::errc::connection_reset, *fault_);
  return {};
}

// The program is told behind the last completion of what it has posted.
void Connection::end(verbs::Error error) {
  if (std::exchange(ends_, true)) return;
  advance(State::kRts, State::kClosing);
  end_error_ = std::move(error);
  qp_->flush();
  await_flushed(kLooksForFlushed);
}

void Connection::await_flushed(int looks_left) {
  if (!qp_->is_flushed() && looks_left != 0) {
    return later(kLook, [looks_left](Connection& self) { self.await_flushed(looks_left - 1); });
  }
  if (told_of_end_) return;  // a step that was taken again
  const Event told{Event::Kind::kDisconnected, end_error_, info_};
  give_up_posted();
  drop_id();
  hurries_ = false;
  told_of_end_ = true;
  tell(told);
}

void Connection::give_up_posted() {
  qp_->flush();
  qp_->give_up();
  settled_ = true;
  state_ = State::kError;
}

// Of a start-up. An adapter that owes the outcome of an accept is not told to flush: the kernel's
// connection manager for iWARP does not expect that then.
void Connection::give_up_start() {
  bool owes_accept = false;
  {
    const std::lock_guard lock(id_mutex_);
    owes_accept = passive_ && owed_;
  }
  if (!owes_accept) return give_up_posted();
  qp_->sends().close();
  qp_->give_up();
  settled_ = true;
  state_ = State::kError;
}

bool Connection::is_inside() {
  const std::lock_guard lock(id_mutex_);
  return inside_;
}

// librdmacm must not lose it while a thread is inside of a call. As long as the kernel owes an
// outcome its destruction waits for the peer.
void Connection::drop_id() {
  CmId dropped;  // destroyed without the lock
  bool owed = false;
  {
    const std::lock_guard lock(id_mutex_);
    if (!id_ || inside_) return;
    host_->loop().forget(id_);
    dropped = std::move(id_);
    owed = std::exchange(owed_, false);
  }
  if (!owed) return;
  try {
    auto apart = std::make_shared<CmId>();
    CmLoop::Task destroy = [apart, host = host_] { *apart = CmId(); };
    *apart = std::move(dropped);
    host_->loop().run_apart(std::move(destroy));
  } catch (const std::bad_alloc&) {
    return;  // it is waited for here
  }
}

}  // namespace iwarp::rnic
