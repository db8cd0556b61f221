#include "soft/qp/life.hpp"

#include <utility>

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::Life;
using connection::LifeAction;
using connection::LifeEvent;
using connection::LifeStep;
using connection::Output;
using connection::Program;

}  // namespace

// RFC 5041 §6.2.1: a program that has asked for a graceful end submits nothing more. What it posts
// behind close(), or when the connection is over, is not submitted: it is flushed.
bool QpLife::submits_no_more() const {
  const Life life = now();
  return life.program == Program::kEnds && life.course != Course::kClosed;
}

bool QpLife::flushes_sends() const {
  const Course now = course();
  return now == Course::kTerminating || now == Course::kDraining || now == Course::kClosed;
}

bool QpLife::flushes_receives() const {
  const Life life = now();
  if (life.program == Program::kGone) return true;
  return life.course == Course::kDraining ? !is_graceful() : flushes_sends();
}

bool QpLife::hear_of_end() {
  const Guard lock(mutex_);
  Life life = now();
  if (life.course != Course::kIdle || life.program != Program::kUnaware) return false;
  life.program = Program::kStays;
  life_.store(life);
  return true;
}

void QpLife::apply(LifeEvent event, std::optional<Course> only_in) {
  tcp_offload::Stream* stream = nullptr;
  Life before;
  LifeStep step;
  {
    const Guard lock(mutex_);
    stream = stream_;
    before = now();
    if (only_in && before.course != *only_in) return;
    step = connection::step(before, event);
    explain_lost_output(before, step.next);
    life_.store(step.next);
    if (step.next != before) deadlines_.on_step(before, step.next, time_.running());
  }
  if (stream != nullptr && step.action == LifeAction::kSendFin) stream->shutdown_send();
  if (stream != nullptr && step.action == LifeAction::kReset) stream->abort();
  if (step.next.course != before.course) return enter(step.next.course);
  // That of the input is waited for behind what was sent. It is wanted once it shows: a thread that
  // runs the transmit half before sees to what is wanted then, but not to this.
  if (connection::input_has_ended(step.next) && !connection::input_has_ended(before)) {
    wanted_.transmit.store(true);
  }
}

void QpLife::enter(Course course) {
  switch (course) {
    case Course::kIdle:
    case Course::kOperational: return;
    case Course::kTerminating: wanted_.flush.store(true); break;
    case Course::kClosing:
    case Course::kDraining: break;
    case Course::kClosed:
      wanted_.flush.store(true);
      wanted_.conclusion.store(true);
      break;
  }
  wanted_.transmit.store(true);
}

// What TCP said when it took nothing any more counts once nothing comes in, either. Where there is
// no memory for the sentence, the end is abortive without it.
void QpLife::explain_lost_output(const Life& before, const Life& next) noexcept {
  const bool over = next.course == Course::kClosed || connection::input_has_ended(next);
  const bool news = before.course != Course::kClosed && graceful_;
  if (!over || !news || next.output != Output::kLost) return;
  try {
    explain_locked(connection_lost(send_error_));
  } catch (const std::exception&) {
    graceful_ = false;
  }
}

void QpLife::lose(Diagnosis why) {
  explain(std::move(why));
  apply(LifeEvent::kLost);
}

void QpLife::lose(const std::string& reason) {
  lose(abortive_end(EndedBy::kStack, EndLayer::kNone, reason));
}

void QpLife::lose_output(const std::error_code& error) {
  {
    const Guard lock(mutex_);
    send_error_ = error;
  }
  apply(LifeEvent::kOutputLost);
}

std::error_code QpLife::send_error() const {
  const Guard lock(mutex_);
  return send_error_;
}

void QpLife::explain(Diagnosis why) {
  const Guard lock(mutex_);
  explain_locked(std::move(why));
}

void QpLife::explain_locked(Diagnosis why) {
  if (is_over()) return;
  const bool news = why.graceful ? diagnosis_.by == EndedBy::kNobody : graceful_;
  if (!why.graceful) graceful_ = false;
  if (news) diagnosis_ = std::move(why);
}

void QpLife::order_terminate(const rdmap::Terminate& message, std::string reason) {
  explain(fault_found_here(message, std::move(reason)));
  {
    const Guard lock(mutex_);
    if (!ordered_terminate_ && !terminate_sent_) ordered_terminate_ = message;
  }
  apply(LifeEvent::kFault);
}

std::optional<rdmap::Terminate> QpLife::take_terminate() {
  const Guard lock(mutex_);
  if (!ordered_terminate_ || now().output == Output::kHeld) return std::nullopt;
  terminate_sent_ = terminate_info(*ordered_terminate_);
  return std::exchange(ordered_terminate_, std::nullopt);
}

bool QpLife::owes_terminate() const {
  const Guard lock(mutex_);
  return ordered_terminate_.has_value();
}

void QpLife::on_peer_terminate(const rdmap::Terminate& message) {
  explain(fault_found_by_peer(message));
  const Guard lock(mutex_);
  terminate_received_ = terminate_info(message);
}

bool QpLife::is_graceful() const {
  const Guard lock(mutex_);
  return graceful_;
}

Diagnosis QpLife::diagnosis() const {
  const Guard lock(mutex_);
  return diagnosis_;
}

Error QpLife::error_of_end() const {
  const Guard lock(mutex_);
  if (graceful_) return {};
  const auto code = std::make_error_code(std::errc::connection_reset);
  try {
    return {code, diagnosis_.sentence};
  } catch (const std::bad_alloc&) {
    return {code, "out of memory"};
  }
}

std::optional<TerminateInfo> QpLife::terminate_sent() const {
  const Guard lock(mutex_);
  return terminate_sent_;
}

std::optional<TerminateInfo> QpLife::terminate_received() const {
  const Guard lock(mutex_);
  return terminate_received_;
}

bool QpLife::depends_on_progress() const {
  const Guard lock(mutex_);
  return deadlines_.depends_on_progress(now());
}

void QpLife::observe(const connection::Progress& progress) {
  const Guard lock(mutex_);
  deadlines_.observe(now(), progress, time_.running());
}

connection::Overdue QpLife::overdue() const {
  const Guard lock(mutex_);
  return deadlines_.overdue(now(), time_.running());
}

bool QpLife::has_deadline() const {
  const Guard lock(mutex_);
  return deadlines_.any();
}

}  // namespace iwarp::verbs::soft
