#include "agent/endpoint.hpp"

#include <utility>

namespace iwarp::agent {
namespace {

constexpr std::uint32_t kQueueDepth = 128;  // of each queue
constexpr std::uint32_t kCqDepth = 1024;
constexpr std::uint64_t kBindWrId = 0;  // no other request has it
constexpr std::chrono::seconds kBindPatience{5};
constexpr std::chrono::milliseconds kStartPatience{500};

verbs::QpOptions options_of(const std::shared_ptr<EventQueue>& events) {
  verbs::QpOptions options;
  options.capacity.max_send_wr = options.capacity.max_recv_wr = kQueueDepth;
  options.on_event = [events](const verbs::ConnectionEvent& event) { events->add(event); };
  return options;
}

const char* reason_of(std::errc code) {
  switch (code) {
    case std::errc::not_enough_memory: return "its queue is full";
    case std::errc::not_connected: return "it is not connected";
    case std::errc::not_supported: return "the connection is without RFC 7306";
    case std::errc::message_size: return "it is too long";
    default: return "it is malformed";
  }
}

}  // namespace

void EventQueue::add(const verbs::ConnectionEvent& event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    events_.back().socket = nullptr;
    any_ = true;
  }
  changed_.notify_all();
}

std::optional<verbs::ConnectionEvent> EventQueue::next(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [this] { return !events_.empty(); })) return std::nullopt;
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

bool EventQueue::any(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [this] { return any_; });
}

Endpoint::Endpoint(verbs::Device& device, verbs::ProtectionDomain& pd)
    : cq_(require(device.create_cq(kCqDepth))),
      qp_(require(pd.create_qp(cq_, options_of(events_)))) {}

// The tester may give two requests the same id; the stack sees numbers of our own. A request that
// has ended holds its place until the tester has fetched its completion, so that the completion
// queue has room for all.
std::uint64_t Endpoint::remember(std::uint64_t id, const std::string& op) {
  if (posted_.size() + kept_.size() + 1 >= kCqDepth) {
    throw refused(std::errc::not_enough_memory, "too many completions have not been asked for");
  }
  posted_.emplace(next_wr_id_, Posted{id, op});
  return next_wr_id_++;
}

void Endpoint::check(const Result<void, verbs::PostError>& posted, std::uint64_t wr_id) {
  if (posted) return;
  posted_.erase(wr_id);
  const std::errc code = posted.error().code;
  throw refused(code, std::string("the queue pair does not take the request: ") + reason_of(code));
}

void Endpoint::receive(std::uint64_t id, std::span<const verbs::Sge> sges) {
  const std::uint64_t wr_id = remember(id, "receive");
  check(qp_.post_receive({.wr_id = wr_id, .sges = sges}), wr_id);
}

// A tester cannot know when this side has seen the last frame of the start-up.
void Endpoint::await_connection(const Attend& attend) {
  if (!begun_) return;
  wait_in_slices(kStartPatience, attend,
                 [this](std::chrono::milliseconds slice) { return events_->any(slice); });
}

void Endpoint::post(std::uint64_t id, const std::string& op, verbs::SendWr request,
                    const Attend& attend) {
  await_connection(attend);
  request.wr_id = remember(id, op);
  request.flags = request.flags | verbs::SendFlags::kSignaled;
  check(qp_.post_send(request), request.wr_id);
}

Report Endpoint::report_of(const verbs::Completion& completion) {
  Report report{.id = completion.wr_id, .op = "other", .completion = completion};
  if (auto posted = posted_.extract(completion.wr_id)) {
    report.id = posted.mapped().id;
    report.op = std::move(posted.mapped().op);
  }
  return report;
}

std::optional<Report> Endpoint::next_report(std::chrono::milliseconds slice) {
  const auto completion = cq_.wait(slice);
  if (!completion) return std::nullopt;
  if (completion->wr_id != kBindWrId) return report_of(*completion);
  bound_ = completion->status;
  return std::nullopt;
}

std::optional<Report> Endpoint::completion(std::chrono::milliseconds longest,
                                           const Attend& attend) {
  if (!kept_.empty()) {
    Report report = std::move(kept_.front());
    kept_.pop_front();
    return report;
  }
  return wait_in_slices(longest, attend,
                        [this](std::chrono::milliseconds slice) { return next_report(slice); });
}

void Endpoint::bind(const verbs::BindWr& binding, const Attend& attend) {
  await_connection(attend);
  bound_.reset();
  check(qp_.post_send({.wr_id = kBindWrId, .opcode = verbs::Opcode::kBindWindow, .bind = &binding}),
        kBindWrId);
  const auto status =
      wait_in_slices(kBindPatience, attend, [this](std::chrono::milliseconds slice) {
        if (auto report = next_report(slice)) kept_.push_back(std::move(*report));
        return bound_;
      });
  if (!status) throw refused(std::errc::timed_out, "the window was not bound in time");
  if (*status != verbs::Status::kSuccess) {
    throw refused(std::errc::permission_denied,
                  std::string("the window was not bound: ") + verbs::to_string(*status));
  }
}

}  // namespace iwarp::agent
