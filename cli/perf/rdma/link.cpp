#include "perf/rdma/link.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "interrupt.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::chrono::milliseconds kEventWait{200};
constexpr std::chrono::microseconds kNap{300};

/// The reason of a loss may come a little later than the flushed requests.
constexpr std::chrono::milliseconds kReasonWait{200};

/// For a peer to take in what was sent, when this end leaves it.
constexpr std::chrono::seconds kLeave{1};

std::string words_of(const Refused& refused) {
  if (!refused.text.empty()) return refused.text;
  const char* const words = words_for(static_cast<std::uint8_t>(refused.reason));
  return words != nullptr ? words : "for a reason that this version does not know";
}

}  // namespace

MeasurementRefused::MeasurementRefused(const Refused& refused) : CommandError(words_of(refused)) {}

void throw_unexpected() { throw Unexpected(); }

Link::Link(verbs::Device& device, LinkRoom room)
    : domain_(require(device.alloc_pd(), "cannot make a protection domain")),
      queue_(require(device.create_cq(room.sends + room.receives + kControlRoom),
                     "cannot make a completion queue")),
      patience_(room.patience) {
  verbs::QpOptions options;
  options.on_event = [life = life_](const verbs::ConnectionEvent& event) { life->report(event); };
  options.capacity.max_send_wr = room.sends + kControlRoom;
  options.capacity.max_recv_wr = room.receives;
  options.capacity.max_send_sge = options.capacity.max_recv_sge = 1;
  options.capacity.max_inline = kControlSize;
  options.source_buffers = room.buffers;
  options.max_fpdu = room.max_fpdu;
  queue_pair_.emplace(
      require(domain_.create_qp(queue_, std::move(options)), "cannot make a queue pair"));
}

verbs::ConnectionInfo Link::connect(const verbs::Endpoint& to,
                                    const verbs::ConnectOptions& options) {
  auto info = life_->connect(*queue_pair_, to, options, InterruptGuard::check);
  patience_.renew();
  return info;
}

void Link::send_last(const ControlBytes& bytes) {
  send(bytes);
  queue_pair_->disconnect();
  for (patience_.renew(); !life_->wait_for_end(kEventWait);) patience_.check();
}

void Link::leave() noexcept {
  try {
    queue_pair_->disconnect();
    if (life_->wait_for_end(kLeave)) return;
  } catch (const std::exception&) {
    // Without memory there is no order in it.
  }
  give_up();
}

void Link::give_up() noexcept {
  try {
    queue_pair_->abort();
  } catch (const std::exception&) {
    // Without memory the end takes its time.
  }
}

verbs::MemoryRegion Link::register_memory(const Buffer& memory, verbs::Access access) {
  return require(domain_.register_memory(memory.bytes(), access), "cannot register memory");
}

void Link::measure(const Workload& workload) {
  if (workload.waiting == Waiting::kPolling) {
    pace_ = Pace::kPolls;
  } else {
    pace_ = workload.figure == Figure::kLatency ? Pace::kOneEvent : Pace::kEvents;
  }
}

void Link::use_receives(std::uint32_t count, std::uint32_t size) {
  receives_.emplace(domain_, count, std::max<std::uint32_t>(size, kControlSize));
  taken_ = 0;
  check(receives_->post(*queue_pair_, count));
}

// What has come before the end of the connection is not lost with it: it may tell the reason.
std::span<const verbs::Completion> Link::poll() {
  if (failed_) lost(verbs::to_string(*failed_));
  const std::size_t n = harvest();
  if (n == 0) {
    nothing_came();
    return {};
  }
  patience_.progress();
  const std::span<const verbs::Completion> batch(batch_.data(), n);
  const auto bad = std::ranges::find_if(
      batch, [](const auto& one) { return one.status != verbs::Status::kSuccess; });
  if (bad == batch.end()) return batch;
  failed_ = bad->status;
  if (bad == batch.begin()) lost(verbs::to_string(*failed_));
  return {batch.begin(), bad};
}

std::size_t Link::harvest() {
  return pace_ <= Pace::kPolls ? queue_.poll(batch_) : wait_for_event();
}

std::size_t Link::wait_for_event() {
  const auto first = queue_.wait(kEventWait);
  if (!first) return 0;
  batch_[0] = *first;
  if (pace_ == Pace::kOneEvent) return 1;
  return 1 + queue_.poll(std::span(batch_).subspan(1));
}

void Link::nothing_came() {
  if (pace_ == Pace::kPolls) {
    if (!patience_.idle()) return;
  } else {
    if (pace_ == Pace::kNaps) std::this_thread::sleep_for(kNap);
    patience_.check();
  }
  // Something may have come between the look at the queue and this one.
  if (queue_pair_->state() == verbs::QpState::kRts) return;
  if (std::exchange(over_, true)) lost("it is closed");
}

bool Link::took_receive() {
  ++taken_;
  const std::uint32_t quarter = receives_->count() / 4;
  if (quarter == 0 || taken_ < quarter) return false;
  repost_receives();
  return true;
}

void Link::repost_receives() {
  if (taken_ == 0) return;
  check(receives_->post(*queue_pair_, taken_));
  taken_ = 0;
}

void Link::send(const ControlBytes& bytes) {
  ControlBytes copy = bytes;
  const verbs::Sge sge{copy.data(), kControlSize, Stag{}};
  verbs::SendWr request;
  request.wr_id = kControlWork;
  request.flags = verbs::SendFlags::kSignaled | verbs::SendFlags::kInline;
  request.sges = {&sge, 1};
  check(queue_pair_->post_send(request));
}

ControlBytes Link::await_control() {
  while (true) {
    std::optional<ControlBytes> found;
    for (const verbs::Completion& completion : poll()) {
      if (completion.opcode != verbs::CompletionOpcode::kReceive) continue;
      const ConstBytes bytes = message(completion);
      const auto kind = control_kind(bytes);
      if (!kind) throw_unexpected();
      if (*kind != Kind::kCredit) {
        found.emplace();
        std::ranges::copy(bytes, found->begin());
      }
      took_receive();
    }
    if (found) return *found;
  }
}

// A request that finds the connection gone tells of that, and not of itself.
void Link::check(const Result<void, verbs::PostError>& outcome) {
  if (outcome) return;
  const std::string why = std::make_error_code(outcome.error().code).message();
  if (outcome.error().code == std::errc::not_connected) lost(why);
  throw CommandError("this end cannot post a request: " + why);
}

void Link::lost(const std::string& what) const {
  life_->wait_for_end(kReasonWait);
  throw LinkLost(why_over(*queue_pair_, "the connection was lost (" + what + ")"));
}

}  // namespace iwarp::cli::perf
