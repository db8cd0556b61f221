#include "soft/qp_link.hpp"

/// The ends that the program asks for.
namespace iwarp::verbs::soft {

using connection::LifeEvent;

void SoftQp::disconnect() {
  if (origin_.refuses()) return;
  if (connecting()) return abort();
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "disconnected here"));
  apply(LifeEvent::kDisconnect);
  settle();
}

// What has completed still arrives, as after disconnect(), but nothing that is posted leaves any
// more, beyond the FPDU that has been cut: its completions come at once. What comes in is dropped.
void SoftQp::close() {
  if (origin_.refuses()) return;
  if (connecting()) return abort();
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "closed here"));
  apply(LifeEvent::kClose);
  want_flush_.store(true);
  want_transmit_.store(true);
  settle();
}

void SoftQp::abort() {
  if (origin_.refuses()) return;
  const auto self = weak_from_this().lock();  // a program that hears of it may destroy it at once
  if (!connecting() || !abort_startup()) {
    explain(abortive_end(EndedBy::kProgram, EndLayer::kNone, "aborted here"));
  }
  apply(LifeEvent::kAbort);
  want_flush_.store(true);  // never taken back: another thread may want it
  settle();
}

// An adapter places nothing for a queue pair that has been destroyed: its memory may be used for
// something else, registered or not. The engine or a poller may be in the middle of a Write, and
// may have lost its processor there. What has been posted leaves as far as TCP takes it.
void SoftQp::release() {
  if (origin_.inherited() || released_.exchange(true)) return;
  const auto pause = [this] { init_.host->pause(); };
  rx_.close(pause, [] {});
  tx_.close(pause, [this] { transmit_some(); });
  discard_completions();
}

void SoftQp::discard_completions() {
  init_.send_cq->discard(number());
  init_.recv_cq->discard(number());
}

// The caller may hold locks that the program's handler takes: it is called later.
bool SoftQp::abort_startup() {
  std::unique_ptr<Startup> startup;
  {
    const std::lock_guard lock(state_mutex_);
    startup = std::move(startup_);
  }
  if (startup) startup->cancel();
  const Error error{std::make_error_code(std::errc::connection_aborted), "aborted here"};
  if (!fail_startup(failed_startup(error))) return false;
  init_.host->post([weak = weak_from_this(), error] {
    const auto self = weak.lock();
    if (self) self->tell_failure({ConnectionEvent::Kind::kFailed, error, {}});
  });
  return true;
}

}  // namespace iwarp::verbs::soft
