#include "soft/qp_link.hpp"

/// The ends that the program asks for.
namespace iwarp::verbs::soft {

using rdmap::StreamEvent;

void SoftQp::disconnect() {
  if (connecting_.load()) return abort();
  ending_.store(true);
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "disconnected here"));
  apply(StreamEvent::kLocalDisconnect);
  settle();
}

// What has completed still arrives, as after disconnect(), but nothing that is posted leaves any
// more, beyond the FPDU that has been cut: its completions come at once. What comes in is dropped.
void SoftQp::close() {
  if (connecting_.load()) return abort();
  ending_.store(true);
  given_up_.store(true);
  closed_here_.store(true);
  want_flush_.store(true);
  want_transmit_.store(true);
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "closed here"));
  apply(StreamEvent::kLocalDisconnect);
  settle();
}

void SoftQp::abort() {
  given_up_.store(true);
  want_flush_.store(want_flush_.load() || flushing_receives());
  if (connecting_.load()) {
    std::unique_ptr<Startup> startup;
    {
      const std::lock_guard lock(state_mutex_);
      startup = std::move(startup_);
    }
    if (startup) startup->cancel();
    if (fail_startup({std::make_error_code(std::errc::connection_aborted), "aborted here"})) return;
  }
  lost(abortive_end(EndedBy::kProgram, EndLayer::kNone, "aborted here"));
  settle();
}

}  // namespace iwarp::verbs::soft
