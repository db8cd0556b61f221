#include "completion_queue.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "completion.hpp"
#include "iwarp/base/deadline.hpp"
#include "iwarp/provider/failure.hpp"
#include "iwarp/provider/inherited.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Completion;

constexpr std::size_t kBatch = 32;
// A program's own take_event() may have taken the event of a completion, milliseconds.
constexpr std::int64_t kSlice = 100;
// For completions of which the program is told nothing: two of each queue pair, see SendQueue, and
// one at its end.
constexpr std::uint32_t kUntold = 64;
// For those of silent requests of which siw has to tell, at least: a full queue of many programs.
// 32 octets of the kernel's memory each.
constexpr std::uint32_t kLeastSwallowed = 16384;

std::uint32_t swallowed_places(const Adapter& adapter, std::uint32_t depth) {
  return adapter.is_siw() ? std::max(depth, kLeastSwallowed) : 0;
}

int native_depth(const Adapter& adapter, std::uint32_t depth) {
  const auto most = static_cast<std::uint64_t>(std::max(adapter.limits.max_cqe, 0));
  const std::uint64_t wanted = std::uint64_t{depth} + kUntold + swallowed_places(adapter, depth);
  return static_cast<int>(std::max<std::uint64_t>(depth, std::min(wanted, most)));
}

verbs::Error cannot_be_made(const Adapter& adapter, std::uint32_t depth, int why) {
  return adapter.error(
      "a completion queue for " + std::to_string(depth) + " completions cannot be made", why);
}

std::chrono::milliseconds left_until(std::chrono::steady_clock::time_point until) {
  return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
}

}  // namespace

CompletionQueue::CompletionQueue(std::shared_ptr<Host> host, std::unique_ptr<EventLabel> label,
                                 NativeChannel channel, NativeCq cq, Events events,
                                 std::uint32_t depth)
    : host_(std::move(host)),
      label_(std::move(label)),
      channel_(std::move(channel)),
      cq_(std::move(cq)),
      events_(std::move(events.set)),
      own_event_(std::move(events.own)),
      channel_in_children_(channel_->fd),
      depth_(depth) {}

CompletionQueue::Events CompletionQueue::make_events(int of_adapter) {
  Events made{process::Descriptor(::epoll_create1(EPOLL_CLOEXEC)),
              HiddenDescriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))};
  if (!made.set || !made.own) return {};
  for (const int each : {of_adapter, made.own.get()}) {
    epoll_event event{EPOLLIN, {}};
    if (::epoll_ctl(made.set.get(), EPOLL_CTL_ADD, each, &event) != 0) return {};
  }
  return made;
}

verbs::Outcome<std::shared_ptr<CompletionQueue>> CompletionQueue::make(std::shared_ptr<Host> host,
                                                                       std::uint32_t depth) {
  Adapter& adapter = *host->adapter();
  const RdmaCore& core = adapter.core;
  auto label = std::make_unique<EventLabel>(EventLabel{host, adapter.next_number()});
  NativeChannel channel(core.ibv_create_comp_channel(adapter.context), {&core});
  if (!channel) return failure(cannot_be_made(adapter, depth, errno));
  ::fcntl(channel->fd, F_SETFL, ::fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  Events events = make_events(channel->fd);
  if (!events.set) return failure(cannot_be_made(adapter, depth, errno));
  NativeCq cq(core.ibv_create_cq(adapter.context, native_depth(adapter, depth), label.get(),
                                 channel.get(), 0),
              {&core});
  if (!cq) return failure(cannot_be_made(adapter, depth, errno));
  return std::shared_ptr<CompletionQueue>(new CompletionQueue(std::move(host), std::move(label),
                                                              std::move(channel), std::move(cq),
                                                              std::move(events), depth));
}

CompletionQueue::~CompletionQueue() {
  if (origin_.inherited()) {
    static_cast<void>(cq_.release());
    static_cast<void>(channel_.release());
    return;
  }
  channel_in_children_.release();
}

std::size_t CompletionQueue::poll(std::span<Completion> into) {
  if (origin_.refuses()) return 0;
  const std::lock_guard lock(mutex_);
  const std::size_t taken = gathered_.empty() ? 0 : take_gathered(into);
  return taken + poll_adapter(into.subspan(taken));
}

std::size_t CompletionQueue::take_gathered(std::span<Completion> into) {
  const std::size_t count = std::min(into.size(), gathered_.size());
  const auto end = gathered_.begin() + static_cast<std::ptrdiff_t>(count);
  std::copy(gathered_.begin(), end, into.begin());
  gathered_.erase(gathered_.begin(), end);
  return count;
}

// A batch of which the program is told nothing is no reason to say that there is nothing.
std::size_t CompletionQueue::poll_adapter(std::span<Completion> into) {
  std::array<ibv_wc, kBatch> batch;
  std::size_t count = 0;
  while (count < into.size()) {
    const auto most = static_cast<int>(std::min(into.size() - count, batch.size()));
    const int got = ibv_poll_cq(cq_.get(), most, batch.data());
    for (int at = 0; at < got; ++at) {
      if (const auto completion = completion_of(batch[static_cast<std::size_t>(at)])) {
        into[count++] = *completion;
      }
    }
    if (got < most) break;
  }
  return count;
}

std::uint32_t CompletionQueue::reserve(std::uint32_t wanted) {
  const auto all = static_cast<std::uint32_t>(cq_->cqe);
  const std::uint32_t depth = depth_.load(), others = depth + kUntold;
  const std::uint32_t most =
      std::min(all > others ? all - others : 0, swallowed_places(adapter(), depth));
  std::uint32_t taken = swallowed_.load(std::memory_order_acquire);
  for (;;) {
    const std::uint32_t granted = std::min(wanted, most > taken ? most - taken : 0);
    if (granted == 0 || swallowed_.compare_exchange_weak(taken, taken + granted)) return granted;
  }
}

void CompletionQueue::gather() {
  const std::lock_guard lock(mutex_);
  gather_locked();
}

// There is room before a completion is taken: without memory it stays with the adapter.
void CompletionQueue::gather_locked() {
  std::array<Completion, kBatch> some;
  std::size_t count = 0;
  do {
    const std::size_t before = gathered_.size();
    gathered_.resize(before + some.size());
    count = poll_adapter(some);
    std::copy_n(some.begin(), count, gathered_.begin() + static_cast<std::ptrdiff_t>(before));
    gathered_.resize(before + count);
  } while (count == some.size());
}

// What names the slots of a queue pair that goes cannot stay with the adapter.
void CompletionQueue::gather_what_fits() {
  std::array<Completion, kBatch> some;
  try {
    return gather_locked();
  } catch (const std::bad_alloc& thrown) {
    verbs::log_failure("an adapter's completion queue may lose completions", thrown);
  }
  while (const std::size_t count = poll_adapter(some)) {
    verbs::call_program([&] {
      gathered_.insert(gathered_.end(), some.begin(),
                       some.begin() + static_cast<std::ptrdiff_t>(count));
    });
  }
}

void CompletionQueue::discard(WorkRing& ring) {
  const std::lock_guard lock(mutex_);
  ring.discard();
}

void CompletionQueue::leave(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  gather_what_fits();
  std::erase_if(gathered_, [&](const Completion& each) { return each.qp_number == qp_number; });
}

void CompletionQueue::give_up(WorkRing& ring, std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  gather_locked();
  const std::size_t before = gathered_.size();
  ring.give_up([&](const WorkSlot& slot) {
    if (slot.told == Told::kAlways) gathered_.push_back(flushed(slot.wr_id, qp_number));
  });
  if (gathered_.size() != before) raise_own();
}

bool CompletionQueue::flush(std::uint64_t wr_id, std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  if (gathered_.size() >= depth_) return false;
  try {
    gathered_.push_back(flushed(wr_id, qp_number));
  } catch (const std::bad_alloc&) {
    return false;
  }
  raise_own();
  return true;
}

// The adapter stays armed: its next completion raises an event that was not asked for.
void CompletionQueue::raise_own() {
  if (!armed_.exchange(false)) return;
  ::eventfd_write(own_event_.get(), 1);
  raised_ = true;  // behind it: a taker finds what it is told of
}

void CompletionQueue::take_back(WorkRing& ring, std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  ring.take_back(count);
}

// What has been gathered raised its event when it came.
void CompletionQueue::arm(verbs::provider::Arm what) {
  if (origin_.refuses()) return;
  armed_ = true;
  ibv_req_notify_cq(cq_.get(), what == verbs::provider::Arm::kSolicited ? 1 : 0);
}

bool CompletionQueue::has_any() {
  const std::lock_guard lock(mutex_);
  gather_locked();
  return !gathered_.empty();
}

bool CompletionQueue::wait(std::chrono::milliseconds timeout) {
  if (origin_.refuses()) return false;
  timeout = std::min<std::chrono::milliseconds>(timeout, kLongestWait);
  const auto until = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    if (has_any()) return true;
    const auto left = left_until(until);
    sleep(left);
    if (left.count() <= 0) return has_any();
  }
}

// Until there is an event, a slice of the wait at most.
void CompletionQueue::sleep(std::chrono::milliseconds most) {
  begin_wait();
  const struct End {
    CompletionQueue& queue;
    ~End() { queue.end_wait(); }
  } at_the_end{*this};
  if (has_any()) return;
  pollfd event{events_.get(), POLLIN, 0};
  ::poll(&event, 1, static_cast<int>(std::clamp<std::int64_t>(most.count(), 0, kSlice)));
}

bool CompletionQueue::begin_wait() {
  if (origin_.refuses()) return false;
  ++waiting_;
  arm(verbs::provider::Arm::kAny);
  return true;
}

// The event that this takes may be all that there is to wake other threads that wait. They get one
// more: at the next completion, or now if one is there that this thread might not take.
void CompletionQueue::end_wait() {
  if (origin_.refuses()) return;
  take_event();
  if (--waiting_ == 0) return;
  arm(verbs::provider::Arm::kAny);
  const std::lock_guard lock(mutex_);
  try {
    gather_locked();
  } catch (const std::bad_alloc&) {
    return raise_own();  // what is there stays with the adapter: the others look
  }
  if (!gathered_.empty()) raise_own();
}

bool CompletionQueue::take_event() {
  if (origin_.refuses()) return false;
  if (raised_.exchange(false)) {
    eventfd_t count = 0;
    ::eventfd_read(own_event_.get(), &count);
    return true;
  }
  ibv_cq* of = nullptr;
  void* context = nullptr;
  if (adapter().core.ibv_get_cq_event(channel_.get(), &of, &context) != 0) return false;
  adapter().core.ibv_ack_cq_events(cq_.get(), 1);
  return true;
}

std::uint32_t CompletionQueue::capacity() const { return depth_.load(); }

verbs::Outcome<void> CompletionQueue::resize(std::uint32_t depth) {
  if (origin_.refuses()) return verbs::refused();
  const std::lock_guard lock(mutex_);
  if (depth == 0 || gathered_.size() > depth) {
    return verbs::fail(std::errc::invalid_argument,
                       adapter().name + ": a completion queue with " +
                           std::to_string(gathered_.size()) +
                           " waiting completions cannot be resized to " + std::to_string(depth));
  }
  const int refused = adapter().core.ibv_resize_cq(cq_.get(), native_depth(adapter(), depth));
  if (refused == 0) {
    depth_ = depth;
    return {};
  }
  // Providers answer with an errno, or with -1 and leave it in errno.
  const int why = refused < 0 ? errno : refused;
  return failure(adapter().error(
      "the completion queue cannot be resized to " + std::to_string(depth) + " completions", why));
}

}  // namespace iwarp::rnic
