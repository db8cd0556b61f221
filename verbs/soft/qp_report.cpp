#include "soft/qp_link.hpp"

/// What a queue pair says of itself.
namespace iwarp::verbs::soft {

using connection::Course;

// In a forked child, where the locks may be held for ever, a queue pair that was inherited is of no
// use: that is what it says of itself, whatever state it is in.

QpState SoftQp::state() const {
  if (origin_.inherited()) return QpState::kError;
  if (connecting()) return QpState::kConnecting;
  switch (course()) {
    case Course::kIdle: return QpState::kIdle;
    case Course::kOperational: return QpState::kRts;
    case Course::kClosing: return QpState::kClosing;
    case Course::kTerminating: return QpState::kTerminate;
    case Course::kDraining: {
      const std::lock_guard lock(state_mutex_);
      return graceful_ ? QpState::kClosing : QpState::kTerminate;
    }
    case Course::kClosed: break;
  }
  return QpState::kError;
}

bool SoftQp::drained() const {
  if (origin_.inherited()) return false;
  const bool over = course() == Course::kClosed || given_up();
  if (!over || silent() || send_queue_.head() != send_queue_.tail()) return false;
  const std::lock_guard lock(post_send_lock_);
  return late_posts_.empty() && receive_queue_.empty() && receives_over_.load();
}

bool SoftQp::delivered() const {
  const Link* link = link_.load();
  const Course now = course();
  if (link == nullptr || now == Course::kClosed) return true;
  return now == Course::kDraining && link->stream.delivery().unacknowledged == 0;
}

rdmap::ReceiveSource& SoftQp::receives() {
  if (init_.srq) return shared_receives_;
  return receive_queue_;
}

Places& SoftQp::receive_places() { return init_.srq ? init_.srq->places() : receive_places_; }

int SoftQp::descriptor() const {
  const Link* link = link_.load();
  return link == nullptr ? -1 : link->stream.descriptor();
}

QpCounters SoftQp::counters() const {
  QpCounters counters;
  if (const Link* link = link_.load()) {
    link->received.add_to(counters);
    link->sent.add_to(counters);
  }
  return counters;
}

std::optional<TerminateInfo> SoftQp::terminate_sent() const {
  if (origin_.inherited()) return std::nullopt;
  const std::lock_guard lock(state_mutex_);
  return terminate_sent_;
}

Diagnosis SoftQp::diagnosis() const {
  if (origin_.inherited()) {
    return abortive_end(EndedBy::kProgram, EndLayer::kNone,
                        "this process was forked, and the connection is its parent's");
  }
  const std::lock_guard lock(state_mutex_);
  return diagnosis_;
}

EndOfConnection SoftQp::end_of_connection() const {
  EndOfConnection end{number(), {}, {}, diagnosis()};
  if (const Link* link = link_.load(); link != nullptr) {
    end.local = link->stream.local();
    end.remote = link->stream.remote();
  }
  return end;
}

std::optional<TerminateInfo> SoftQp::terminate_received() const {
  if (origin_.inherited()) return std::nullopt;
  const std::lock_guard lock(state_mutex_);
  return terminate_received_;
}

}  // namespace iwarp::verbs::soft
