#include <algorithm>

#include "soft/qp/halves/halves.hpp"
#include "soft/startup/error.hpp"

/// What a queue pair does not wait for without limit.
namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::Input;
using connection::LifeEvent;
using connection::Output;
using connection::Overdue;

constexpr std::chrono::milliseconds kFirstLook{1}, kLongestLook{128};

Diagnosis timed_out(EndLayer layer, std::string what) {
  return abortive_end(EndedBy::kNetwork, layer, std::move(what));
}

}  // namespace

bool QpHalves::check_deadlines() {
  QpLife& life = parts_.life;
  contain([&] {
    observe_progress();
    if (life.overdue() == Overdue::kNothing || !finds_nothing_to_read()) return;
    observe_progress();
    judge(life.overdue());
  });
  // No socket may be about to say so: a call may fail on one that is sound.
  if (receive_half_.awaits_receive() || life.now().output == Output::kLost) receive();
  settle();
  return life.has_deadline() || receive_half_.awaits_receive();
}

void QpHalves::observe_progress() {
  const Link* link = parts_.link.load();
  if (link != nullptr && parts_.life.depends_on_progress()) parts_.life.observe(link->progress());
}

// What was waited for may lie in the socket: this thread, or the whole process, may not have run.
// While another thread reads there is nothing to say either. But what is dropped unread is waited
// for by no thread: a peer that sends without pause would put the end off for ever.
bool QpHalves::finds_nothing_to_read() {
  if (parts_.link.load() == nullptr || parts_.life.input_ended()) return true;
  const std::uint64_t before = octets_received();
  const bool nothing_more = receive();
  return parts_.life.now().input == Input::kStopped ||
         (nothing_more && octets_received() == before);
}

void QpHalves::judge(Overdue what) {
  QpLife& life = parts_.life;
  const connection::Patience& patience = parts_.init.patience;
  switch (what) {
    case Overdue::kNothing: return;
    case Overdue::kAnswerToGone: return life.apply(LifeEvent::kPeerGoneForLong);
    case Overdue::kFirstFpdu:
      return life.lose(timed_out(
          EndLayer::kMpa, "the peer sent no first FPDU for " + to_text(patience.first_fpdu)));
    case Overdue::kSending:
      return life.lose(timed_out(
          EndLayer::kTcp,
          "what was posted could not be sent: nothing moved for " + to_text(patience.linger)));
    case Overdue::kDelivery: {
      // A peer that has everything and keeps its half open is left. The reset tells it that what it
      // still sends is not read.
      const std::uint64_t left = parts_.link.load()->stream.delivery().unacknowledged;
      if (left == 0) return life.apply(LifeEvent::kLost, Course::kDraining);
      return life.lose(timed_out(
          EndLayer::kTcp, std::to_string(left) +
                              " octets that were sent have not been acknowledged: nothing moved "
                              "for " +
                              to_text(patience.linger)));
    }
    case Overdue::kAnyMovement:
      return life.lose(timed_out(EndLayer::kNone, "nothing was sent or received for " +
                                                      to_text(parts_.link.load()->idle_limit())));
  }
}

// Peers that fill the room which all connections share with halves must not keep it from the
// others. While there is room a peer may take its time: its TCP may be cut off in the middle of an
// FPDU, or its process stopped.
void QpHalves::give_up_half_fpdu(std::chrono::steady_clock::time_point since) {
  receive();
  const auto half = half_fpdu();
  if (!half || half->since != since || receive_half_.busy()) return;
  parts_.life.lose(timed_out(EndLayer::kMpa,
                             "half an FPDU came, and not the rest, while other connections need "
                             "the room that it takes"));
  settle();  // which frees it
}

void QpHalves::look_again() {
  receive();
  if (!parts_.life.awaits_delivery() && !transmit_half_.awaits_memory()) return;
  const auto now = parts_.init.services->time.running();
  if (now < next_look_.at) return;
  next_look_.pause = std::clamp(2 * next_look_.pause, kFirstLook, kLongestLook);
  next_look_.at = now + next_look_.pause;
  transmit();
  if (!waits().looks) next_look_.pause = {};
}

}  // namespace iwarp::verbs::soft
