#include "soft/qp_link.hpp"
#include "soft/startup/error.hpp"

/// What a queue pair does not wait for without limit.
namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::Input;
using connection::LifeEvent;
using connection::Output;

constexpr std::chrono::milliseconds kFirstLook{1}, kLongestLook{128};

Diagnosis timed_out(EndLayer layer, std::string what) {
  return abortive_end(EndedBy::kNetwork, layer, std::move(what));
}

bool passed(std::chrono::steady_clock::rep deadline, std::chrono::steady_clock::rep now) {
  return deadline != 0 && now >= deadline;
}

}  // namespace

SoftQp::Clock::rep SoftQp::from_now(std::chrono::milliseconds time) const {
  return (init_.host->running() + time).time_since_epoch().count();
}

bool SoftQp::check_deadlines() {
  contain([this] {
    if (owes_close_.exchange(false)) finish_close();
    renew_deadline_by_progress();
    if (overdue() != Overdue::kNothing && finds_nothing_to_read()) judge(overdue());
    end_if_idle();
  });
  // No socket may be about to say so: a call may fail on one that is sound.
  if (awaits_receive() || life().output == Output::kLost) receive();
  settle();
  return deadline_.load() != 0 || gone_deadline_.load() != 0 || awaits_receive();
}

SoftQp::Overdue SoftQp::overdue() const {
  const Clock::rep now = from_now({});
  if (passed(gone_deadline_.load(), now)) return Overdue::kUnreachable;
  return passed(deadline_.load(), now) ? Overdue::kStep : Overdue::kNothing;
}

std::optional<SoftQp::HalfFpdu> SoftQp::half_fpdu() const {
  const Clock::time_point since{Clock::duration(half_fpdu_since_.load())};
  const Link* link = link_.load();
  if (link == nullptr || since == Clock::time_point{}) return std::nullopt;
  return HalfFpdu{since, std::max<std::size_t>(half_fpdu_octets_.load(), 1),
                  link->mode.info.remote.address()};
}

// Peers that fill the room which all connections share with halves must not keep it from the
// others. While there is room a peer may take its time: its TCP may be cut off in the middle of an
// FPDU, or its process stopped.
void SoftQp::give_up_half_fpdu(Clock::time_point since) {
  receive();
  const bool same = half_fpdu_since_.load() == since.time_since_epoch().count();
  if (!same || rx_.held()) return;
  lost(timed_out(EndLayer::kMpa,
                 "half an FPDU came, and not the rest, while other connections need the room that "
                 "it takes"));
  settle();  // which frees it
}

// What was waited for may lie in the socket: this thread, or the whole process, may not have run.
// While another thread reads there is nothing to say either. But what is dropped unread nobody
// waits for: a peer that sends without pause would put the end off for ever.
bool SoftQp::finds_nothing_to_read() {
  const Link* link = link_.load();
  if (link == nullptr || input_ended()) return true;
  const std::uint64_t before = link->received.octets();
  const bool nothing_more = receive();
  return life().input == Input::kStopped || (nothing_more && link->received.octets() == before);
}

// An end takes the time that it takes, as long as something moves: octets that TCP takes or the
// peer acknowledges, and after a graceful end also those that the peer still sends (RFC 5041
// §6.2.1). What a peer sends after a fault does not count: it would decide how long this goes on.
void SoftQp::renew_deadline_by_progress() {
  Link* link = link_.load();
  Clock::rep deadline = deadline_.load();
  const connection::Life state = life();
  if (link == nullptr || deadline == 0 || state.course == Course::kOperational) return;
  const bool receives = state.course != Course::kTerminating && state.input == Input::kOpen;
  const Link::Progress now{link->sent.octets(), link->stream.delivery().unacknowledged,
                           receives ? link->received.octets() : link->progress.received};
  if (now == link->progress) return;
  link->progress = now;
  // Unless the stream has gone on to another state meanwhile.
  deadline_.compare_exchange_strong(deadline, from_now(init_.timeouts.linger));
}

// What TCP owes counts, too: a peer that takes in slowly what was sent is not idle.
void SoftQp::end_if_idle() {
  Link* link = link_.load();
  if (link == nullptr || course() != Course::kOperational) return;
  const auto limit = link->mode.liveness->idle;
  if (limit.count() == 0) return;
  const auto idle = [&] {
    const Link::Progress now{link->sent.octets(), link->stream.delivery().unacknowledged,
                             link->received.octets()};
    if (now == link->progress && link->idle_from != 0) return from_now(-limit) >= link->idle_from;
    link->progress = now;
    link->idle_from = from_now({});
    return false;
  };
  if (!idle() || !finds_nothing_to_read() || !idle()) return;
  lost(timed_out(EndLayer::kNone, "nothing was sent or received for " + to_text(limit)));
}

void SoftQp::judge(Overdue what) {
  switch (what) {
    case Overdue::kNothing: return;
    case Overdue::kUnreachable: return apply(LifeEvent::kPeerGoneForLong);
    case Overdue::kStep: return judge_step();
  }
}

void SoftQp::judge_step() {
  switch (course()) {
    case Course::kOperational:
      return lost(timed_out(
          EndLayer::kMpa, "the peer sent no first FPDU for " + to_text(init_.timeouts.first_fpdu)));
    case Course::kClosing:
    case Course::kTerminating:
      return lost(
          timed_out(EndLayer::kTcp, "what was posted could not be sent: nothing moved for " +
                                        to_text(init_.timeouts.linger)));
    case Course::kDraining: return judge_draining();
    case Course::kIdle:
    case Course::kClosed: return;
  }
}

// A peer that has everything and keeps its half open is left. The reset tells it that nobody reads
// what it still sends.
void SoftQp::judge_draining() {
  const std::uint64_t left = link_.load()->stream.delivery().unacknowledged;
  if (left == 0) return apply(LifeEvent::kLost, Course::kDraining);
  lost(timed_out(EndLayer::kTcp, std::to_string(left) +
                                     " octets that were sent have not been acknowledged: "
                                     "nothing moved for " +
                                     to_text(init_.timeouts.linger)));
}

void SoftQp::look_again() {
  receive();
  if (!awaits_delivery() && !awaits_memory()) return;
  Link& link = *link_.load();
  const Clock::rep now = from_now({});
  if (now < link.next_look) return;
  link.look_pause = std::clamp(2 * link.look_pause, kFirstLook, kLongestLook);
  link.next_look = from_now(link.look_pause);
  transmit();
  if (!wants_looks()) link.look_pause = {};
}

}  // namespace iwarp::verbs::soft
