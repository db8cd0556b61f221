#include "soft/qp/soft_qp.hpp"

#include <vector>

#include "soft/startup/adopt.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::LifeEvent;

}  // namespace

std::shared_ptr<SoftQp> SoftQp::make(Init init) {
  auto qp = process::make_shared_here<SoftQp>(std::move(init));
  qp->parts_.self = qp;
  return qp;
}

SoftQp::~SoftQp() {
  parts_.discard_completions();
  parts_.memory().end_stream(parts_.stream);
  if (!parts_.owned_link) return;
  halves_.detach();
  Link& link = *parts_.owned_link;
  const Services& services = *parts_.init.services;
  services.halves.account(-static_cast<std::ptrdiff_t>(link.accounted));
  if (parts_.life.is_over()) return;
  parts_.life.explain(
      graceful_end(EndedBy::kProgram, EndLayer::kNone, "the queue pair was destroyed here"));
  services.executor.post([end = parts_.end_of_connection()] { log_end(end); });
  const ConstBytes rest = link.outbound().rest();
  std::vector<std::byte> unsent(rest.begin(), rest.end());
  auto stream = std::move(link.mode.stream);
  // A device that does not copy may still read from what the link holds.
  services.sockets.see_off({std::move(parts_.owned_link), std::move(unsent), std::move(stream),
                            parts_.init.patience.linger, number()});
}

// ---- Start-up ----

Outcome<void> SoftQp::connect(const Endpoint& to, const ConnectOptions& options) {
  return start_up([&](StartupHandler handler) {
    return start_connect(*parts_.init.device, to, options, std::move(handler));
  });
}

Outcome<void> SoftQp::adopt(StreamingSocket& socket, const ConnectOptions& options) {
  return start_up([&](StartupHandler handler) {
    return adopt_as_initiator(*parts_.init.device, socket, options, std::move(handler));
  });
}

Outcome<void> SoftQp::start_up(const QpStartUp::StartInitiator& start) {
  if (parts_.origin.refuses()) return refused();
  if (parts_.init.device == nullptr) return fail(std::errc::operation_not_supported, "no device");
  return start_up_.begin(start);
}

// ---- Posting ----

SendWork::Admission SoftQp::admission() const {
  const bool early = parts_.life.course() == Course::kIdle && !start_up_.takes_early_posts();
  if (early) return SendWork::Admission::kRefused;
  if (!parts_.life.submits_no_more()) return SendWork::Admission::kTaken;
  return parts_.init.flushes_late_posts ? SendWork::Admission::kFlushed
                                        : SendWork::Admission::kRefused;
}

Result<void, PostError> SoftQp::post_send(std::span<const SendWr> requests, Posting posting) {
  if (parts_.origin.refuses()) return refused_post();
  const auto posted = parts_.sends.post(requests, posting, admission());
  if (posted.count != 0) halves_.on_sends_posted(posted.octets);
  if (posted.refused) return failure(*posted.refused);
  return {};
}

Result<void, PostError> SoftQp::post_receive(std::span<const RecvWr> requests) {
  if (parts_.origin.refuses()) return refused_post();
  const auto posted = parts_.receives.post(requests);
  if (!parts_.receives.are_shared()) halves_.on_receives_posted();
  return posted;
}

void SoftQp::use_manager() {
  if (parts_.origin.refuses()) return;
  if (parts_.life.hear_of_end()) parts_.connectionless.store(false);
}

// ---- The ends that the program asks for ----

// Another thread may begin a start-up just then: it is given up, too, once the life has ended.

void SoftQp::disconnect() {
  if (parts_.origin.refuses()) return;
  const auto self = parts_.self.lock();  // a program that hears of it may destroy it at once
  if (parts_.phase.connecting()) return abort();
  parts_.life.explain(graceful_end(EndedBy::kProgram, EndLayer::kNone, "disconnected here"));
  parts_.life.apply(LifeEvent::kDisconnect);
  if (parts_.phase.connecting()) return abort();
  halves_.settle();
}

void SoftQp::close() {
  if (parts_.origin.refuses()) return;
  const auto self = parts_.self.lock();  // as in disconnect()
  if (parts_.phase.connecting()) return abort();
  halves_.close();
  if (parts_.phase.connecting()) abort();
}

void SoftQp::abort() {
  if (parts_.origin.refuses()) return;
  const auto self = parts_.self.lock();  // as in disconnect()
  if (!parts_.phase.connecting() || !start_up_.abort()) {
    parts_.life.explain(abortive_end(EndedBy::kProgram, EndLayer::kNone, "aborted here"));
  }
  parts_.life.apply(LifeEvent::kAbort);
  if (parts_.phase.connecting()) start_up_.abort();
  halves_.flush_posted();
}

void SoftQp::release() {
  if (!parts_.origin.inherited()) halves_.release();
}

// ---- What it says of itself ----

// In a forked child, where the locks may be held for ever, a queue pair that was inherited is of no
// use: that is what it says of itself, whatever state it is in.

bool SoftQp::drained() const { return !parts_.origin.inherited() && halves_.drained(); }

QpState SoftQp::state() const {
  if (parts_.origin.inherited()) return QpState::kError;
  if (parts_.phase.connecting()) return QpState::kConnecting;
  switch (parts_.life.course()) {
    case Course::kIdle: return QpState::kIdle;
    case Course::kOperational: return QpState::kRts;
    case Course::kClosing: return QpState::kClosing;
    case Course::kTerminating: return QpState::kTerminate;
    case Course::kDraining:
      return parts_.life.is_graceful() ? QpState::kClosing : QpState::kTerminate;
    case Course::kClosed: break;
  }
  return QpState::kError;
}

QpCounters SoftQp::counters() const {
  QpCounters counters;
  if (const Link* link = parts_.link.load()) {
    link->received.add_to(counters);
    link->sent.add_to(counters);
  }
  return counters;
}

std::optional<TerminateInfo> SoftQp::terminate_sent() const {
  if (parts_.origin.inherited()) return std::nullopt;
  return parts_.life.terminate_sent();
}

std::optional<TerminateInfo> SoftQp::terminate_received() const {
  if (parts_.origin.inherited()) return std::nullopt;
  return parts_.life.terminate_received();
}

Diagnosis SoftQp::diagnosis() const {
  if (!parts_.origin.inherited()) return parts_.life.diagnosis();
  return abortive_end(EndedBy::kProgram, EndLayer::kNone,
                      "this process was forked, and the connection is its parent's");
}

}  // namespace iwarp::verbs::soft
