#include "soft/soft_qp.hpp"

#include "soft/failure.hpp"
#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::Input;
using connection::Life;
using connection::LifeAction;
using connection::LifeEvent;
using connection::LifeStep;
using connection::Output;
using connection::Program;

}  // namespace

SoftQp::SoftQp(Init init)
    : init_(std::move(init)),
      stream_(init_.host->memory().begin_stream()),
      send_queue_(init_.capacity.max_send_wr, init_.capacity.max_send_sge,
                  init_.capacity.max_inline),
      send_places_(init_.capacity.max_send_wr),
      receive_queue_(init_.srq ? 0 : init_.capacity.max_recv_wr, init_.capacity.max_recv_sge),
      receive_places_(init_.capacity.max_recv_wr),
      shared_receives_(init_.srq),
      life_(Life{.program = init_.connectionless ? Program::kUnaware : Program::kStays}) {}

SoftQp::~SoftQp() {
  if (startup_) startup_->cancel();
  discard_completions();
  init_.host->memory().end_stream(stream_);
  if (!owned_link_) return;
  init_.host->remove(*this);
  init_.send_cq->detach(*this);
  init_.recv_cq->detach(*this);
  Link& link = *owned_link_;
  init_.host->account_tail(-static_cast<std::ptrdiff_t>(link.accounted));
  if (course() == Course::kClosed) return;
  explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "the queue pair was destroyed here"));
  init_.host->post([end = end_of_connection()] { log_end(end); });
  const ConstBytes rest = link.outbound().rest();
  std::vector<std::byte> unsent(rest.begin(), rest.end());
  auto stream = std::move(link.mode.stream);
  // A device that does not copy may still read from what the link holds.
  init_.host->see_off({std::move(owned_link_), std::move(unsent), std::move(stream),
                       init_.timeouts.linger, init_.number});
}

// ---- State ----

void SoftQp::apply(LifeEvent event, std::optional<Course> only_in) {
  Link* link = nullptr;
  Life before;
  LifeStep step;
  {
    const std::lock_guard lock(state_mutex_);
    link = link_.load();
    before = life();
    if (only_in && before.course != *only_in) return;
    step = connection::step(before, event);
    explain_lost_output(before, step.next);
    life_.store(step.next);
    set_gone_deadline(before, step.next);
  }
  if (link != nullptr && step.action == LifeAction::kSendFin) link->stream.shutdown_send();
  if (link != nullptr && step.action == LifeAction::kReset) link->stream.abort();
  if (step.next.course != before.course) enter(step.next.course);
}

// What TCP said when it took nothing any more counts once nothing comes in, either. Where there is
// no memory for the sentence, the end is abortive without it.
void SoftQp::explain_lost_output(const Life& before, const Life& next) noexcept {
  const bool over = next.course == Course::kClosed || connection::input_has_ended(next);
  const bool news = before.course != Course::kClosed && graceful_;
  if (!over || !news || next.output != Output::kLost) return;
  try {
    explain_locked(connection_lost(link_.load()->send_error));
  } catch (const std::exception&) {
    graceful_ = false;
  }
}

void SoftQp::set_gone_deadline(const Life& before, const Life& next) {
  const bool unaware = next.course == Course::kOperational && next.input == Input::kPeerGone;
  if (!unaware) return gone_deadline_.store(0);
  if (before.input != next.input) gone_deadline_.store(from_now(init_.timeouts.unreachable));
}

void SoftQp::enter(Course course) {
  switch (course) {
    case Course::kIdle:
    case Course::kOperational: return;
    case Course::kTerminating: want_flush_.store(true); [[fallthrough]];
    case Course::kClosing:
    case Course::kDraining:
      deadline_.store(from_now(init_.timeouts.linger));
      want_transmit_.store(true);
      return;
    case Course::kClosed:
      deadline_.store(0);
      half_fpdu_since_.store(0);
      want_transmit_.store(true);
      want_flush_.store(true);
      finish_close();
      return;
  }
}

// Leaves the queues and the engine, and tells the program; none of that inside a half.
void SoftQp::finish_close() {
  if (link_.load() == nullptr) return;
  try {
    post_close();
  } catch (const std::exception&) {
    owes_close_.store(true);
    throw;
  }
}

void SoftQp::report_end(const EndOfConnection& end) noexcept {
  try {
    if (auto event = event_of(end)) init_.host->report(std::move(*event));
  } catch (const std::exception& thrown) {
    log_failure("an event of a connection is lost", thrown);
  }
}

// Under the state's lock. The end is told even where there is no memory for the sentence.
Error SoftQp::error_of_end() const {
  const auto code = std::make_error_code(std::errc::connection_reset);
  try {
    return {code, diagnosis_.sentence};
  } catch (const std::bad_alloc&) {
    return {code, "out of memory"};
  }
}

void SoftQp::post_close() {
  init_.host->post([weak = weak_from_this(), end = end_of_connection()] {
    log_end(end);
    const auto self = weak.lock();
    if (!self) return;
    self->report_end(end);
    self->init_.host->remove(*self);
    self->init_.send_cq->detach(*self);
    self->init_.recv_cq->detach(*self);
    ConnectionEvent event{ConnectionEvent::Kind::kDisconnected, {}, {}};
    {
      const std::lock_guard lock(self->state_mutex_);
      if (!self->graceful_) {
        event.error = self->error_of_end();
      }
    }
    if (self->init_.on_event) self->init_.on_event(event);
  });
}

// Does what was wanted inside a half, now that nobody of this thread is inside.
void SoftQp::settle() {
  contain([this] {
    do {
      if (want_transmit_.exchange(false)) tx_.run([this] { transmit_some(); });
      if (want_flush_.load()) rx_.run([this] { flush_if_wanted(); });
    } while (want_transmit_.load());
  });
}

// As far as there is memory for it: the engine's look at the deadlines goes on with what is
// missing.
void SoftQp::end_after(const std::exception& thrown) noexcept {
  const auto try_to = [](auto step) {
    try {
      step();
    } catch (const std::exception&) {
      return;
    }
  };
  try_to([&] {
    explain(abortive_end(EndedBy::kStack, EndLayer::kNone,
                         error_of(thrown, "the stack cannot go on").message));
  });
  try_to([this] { apply(LifeEvent::kLost); });
  try_to([] { Scratch::of_thread().batch.clear(); });  // a deregistration may be waiting for it
}

void SoftQp::explain(Diagnosis why) {
  const std::lock_guard lock(state_mutex_);
  explain_locked(std::move(why));
}

// The first cause counts; a fault outranks a graceful end under way.
void SoftQp::explain_locked(Diagnosis why) {
  if (course() == Course::kClosed) return;
  const bool news = why.graceful ? diagnosis_.by == EndedBy::kNobody : graceful_;
  if (!why.graceful) graceful_ = false;
  if (news) diagnosis_ = std::move(why);
}

void SoftQp::lost(const std::string& reason) {
  lost(abortive_end(EndedBy::kStack, EndLayer::kNone, reason));
}

void SoftQp::lost(Diagnosis why) {
  explain(std::move(why));
  apply(LifeEvent::kLost);
}

// Nothing would wake the engine or a poller: the peer gets a reset instead of silence.
void SoftQp::cannot_be_watched(const std::error_code& why) {
  lost(abortive_end(EndedBy::kStack, EndLayer::kNone,
                    "the system refuses to watch the connection's socket: " + why.message()));
  settle();
}

void SoftQp::order_terminate(const rdmap::Terminate& message, std::string reason) {
  explain(fault_found_here(message, std::move(reason)));
  {
    const std::lock_guard lock(state_mutex_);
    if (!ordered_terminate_ && !terminate_sent_) ordered_terminate_ = message;
  }
  apply(LifeEvent::kFault);
}

// Whether receives complete as flushed. A graceful end goes on receiving until the peer's FIN, but
// for close(), which drops what comes.
bool SoftQp::flushing_receives() const {
  const Life now = life();
  if (now.program == Program::kGone) return true;
  if (now.course != Course::kDraining) return flushing();
  const std::lock_guard lock(state_mutex_);
  return !graceful_;
}

// Whether send requests do.
bool SoftQp::flushing() const {
  const Course now = course();
  return now == Course::kTerminating || now == Course::kDraining || now == Course::kClosed;
}

}  // namespace iwarp::verbs::soft
