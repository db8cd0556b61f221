#include "iwarp/connection/deadlines.hpp"

namespace iwarp::connection {

void Deadlines::begin(bool awaits_first, std::chrono::milliseconds idle, Time now) {
  patience_.idle = idle;
  if (awaits_first) step_ = now + patience_.first_fpdu;
}

void Deadlines::on_step(const Life& before, const Life& next, Time now) {
  const bool unaware = next.course == Course::kOperational && next.input == Input::kPeerGone;
  if (!unaware) gone_.reset();
  if (unaware && before.input != next.input) gone_ = now + patience_.unreachable;
  if (next.course == Course::kOperational) {
    if (before.output == Output::kHeld && next.output == Output::kOpen) step_.reset();
  } else if (next.course == Course::kClosed) {
    step_.reset();
  } else if (next.course != before.course) {
    step_ = now + patience_.linger;
  }
}

void Deadlines::observe(const Life& life, const Progress& progress, Time now) {
  Progress seen = progress;
  const bool receives = life.course != Course::kTerminating && life.input == Input::kOpen;
  const bool ending = life.course != Course::kOperational;
  if (ending && !receives) seen.received = progress_.received;
  const bool moves = seen != progress_;
  if (moved_ && !moves) return;
  progress_ = seen;
  moved_ = now;
  if (moves && ending && step_) step_ = now + patience_.linger;
}

bool Deadlines::depends_on_progress(const Life& life) const {
  return life.course == Course::kOperational ? patience_.idle.count() != 0 : step_.has_value();
}

Overdue Deadlines::overdue(const Life& life, Time now) const {
  if (gone_ && now >= *gone_) return Overdue::kAnswerToGone;
  if (step_ && now >= *step_) {
    switch (life.course) {
      case Course::kOperational: return Overdue::kFirstFpdu;
      case Course::kClosing:
      case Course::kTerminating: return Overdue::kSending;
      case Course::kDraining: return Overdue::kDelivery;
      case Course::kIdle:
      case Course::kClosed: break;
    }
  }
  const bool may_idle = life.course == Course::kOperational && patience_.idle.count() != 0;
  if (may_idle && moved_ && now - *moved_ >= patience_.idle) return Overdue::kAnyMovement;
  return Overdue::kNothing;
}

}  // namespace iwarp::connection
