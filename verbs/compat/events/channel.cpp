#include "events/channel.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "core/cq.hpp"
#include "core/errors.hpp"
#include "events/event_fd.hpp"
#include "iwarp/process/blocked_signals.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {

namespace {

// What the set that a driving thread sleeps on says of the queues' events; no number of a queue.
constexpr std::uint64_t kEvents = UINT64_MAX;

process::Descriptor make_set() {
  process::Descriptor set(::epoll_create1(EPOLL_CLOEXEC));
  if (!set) throw std::system_error(errno, std::generic_category());
  return set;
}

[[nodiscard]] bool watch(const process::Descriptor& set, int descriptor, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  return ::epoll_ctl(set.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

// How often a thread wakes for what raises no event before it leaves that to the engine. Signals do
// not arrive while there is always something to wake for.
constexpr int kMostVainWakes = 64;

// As epoll_pwait(2), of one; a cancellation point.
int wait_for_one(const process::Descriptor& set, std::uint64_t& number, int milliseconds,
                 const sigset_t* blocked = nullptr) {
  epoll_event event{};
  const int found = ::epoll_pwait(set.get(), &event, 1, milliseconds, blocked);
  if (found > 0) number = event.data.u64;
  return found;
}

}  // namespace

// A thread that sleeps, and what it drives meanwhile: the queues that let it, if it sleeps here
// alone and they are few. Signals arrive at a thread that drives while it sleeps, and only then:
// their handlers may end the process, or not return, but not with what is locked here, and one that
// comes while the thread is awake for what raises no event is to end the wait. A thread that blocks
// the signals of memory that is not there does not drive.
class CqEvents::Sleep {
 public:
  explicit Sleep(CqEvents& events) : events_(events) {
    const process::NoCancel whole;
    {
      const std::lock_guard lock(events_.mutex_);
      const bool alone = events_.sleepers_++ == 0;
      if (!alone || !has_few()) return;
    }
    signals_.emplace(process::OwnSignals::kAsBefore);
    if (!signals_->admitted_memory_faults()) return;
    const std::lock_guard lock(events_.mutex_);
    if (!has_few()) return;  // any more
    for (auto& [number, member] : events_.queues_) {
      if (begin(number, member)) driven_.emplace_back(number, member.cq->core);
    }
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;
  // An event may have been taken.
  ~Sleep() {
    const process::NoCancel whole;
    const int error = errno;  // of the sleep
    end_driving();
    {
      const std::lock_guard lock(events_.mutex_);
      --events_.sleepers_;
    }
    errno = error;
  }

  [[nodiscard]] bool drives() const { return !driven_.empty(); }
  // What is blocked while it sleeps; null: what is blocked now.
  [[nodiscard]] const sigset_t* signals() const { return signals_ ? &signals_->before() : nullptr; }
  // A queue that has been destroyed meanwhile goes here.
  void end_driving() {
    const process::NoCancel whole;
    for (const auto& [number, queue] : driven_) queue->end_event_wait();
    driven_.clear();
  }
  void drive(std::uint64_t number) {
    for (const auto& [each, queue] : driven_) {
      if (each == number) return queue->drive_for_event();
    }
  }

 private:
  [[nodiscard]] bool has_few() const { return events_.queues_.size() <= driven_.static_capacity; }
  // A queue that is not driven must not wake the thread for what another one is to read.
  bool begin(std::uint64_t number, Member& member) {
    const bool begun = member.cq->core->begin_event_wait();
    if (begun && events_.join_sleep_set(number, member)) return true;
    if (begun) member.cq->core->end_event_wait();
    events_.leave_sleep_set(member);
    return false;
  }

  using Driven = std::pair<std::uint64_t, std::shared_ptr<verbs::provider::Cq>>;
  static constexpr std::size_t kFew = 2;  // those of a queue pair

  std::optional<process::BlockedSignals> signals_;  // handlers run behind the end of all else
  CqEvents& events_;
  boost::container::static_vector<Driven, kFew> driven_;
};

CqEvents::CqEvents() : epoll_(make_set()) {}

void CqEvents::add(Cq& cq) {
  const int descriptor = cq.core->event_descriptor();
  const std::lock_guard lock(mutex_);
  const auto added = queues_.emplace(next_++, Member{&cq}).first;
  if (watch(epoll_, descriptor, added->first)) return;
  const int error = errno;
  queues_.erase(added);
  throw std::system_error(error, std::generic_category());
}

void CqEvents::remove(const Cq& cq) {
  const std::lock_guard lock(mutex_);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, cq.core->event_descriptor(), nullptr);
  const auto member =
      std::ranges::find(queues_, &cq, [](const auto& each) { return each.second.cq; });
  if (member == queues_.end()) return;
  leave_sleep_set(member->second);
  queues_.erase(member);
}

void CqEvents::leave_sleep_set(Member& member) {
  if (!std::exchange(member.in_sleep_set, false)) return;
  ::epoll_ctl(sleep_set_.get(), EPOLL_CTL_DEL, member.cq->core->wait_descriptor(), nullptr);
}

// Most programs have been told by poll(2) that there is one; only where there is none it matters
// whether the descriptor is blocking. A queue that gives none makes no difference to the others: a
// program that is told of changes only would not ask again. A queue without company need not be
// found first.
int CqEvents::take(Cq*& from) {
  bool looked = false;
  if (!caller_is_left_behind() && take_from_only(from, looked)) return 0;
  for (;;) {
    std::uint64_t told = 0;
    const bool found = !std::exchange(looked, false) && !caller_is_left_behind() &&
                       wait_for_one(epoll_, told, 0) > 0;
    if (!found) {  // or an error: the program has closed it, or made it another thing
      const auto wait = [&] { return sleep(told, from); };
      // By reference: a function object of this size would be allocated.
      if (const int error = await_event(epoll_.get(), std::ref(wait))) return error;
      if (from != nullptr) return 0;
    }
    if (take_from(told, from)) return 0;
  }
}

// As epoll_wait(2): more than 0 if `told` names a queue that has an event, or `from` the one from
// which that was taken.
int CqEvents::sleep(std::uint64_t& told, Cq*& from) {
  Sleep sleep(*this);
  if (sleep.drives()) {
    if (take_any(from)) return 1;  // what had been posted has completed
    if (const auto found = sleep_and_drive(sleep, told, from)) return *found;
    sleep.end_driving();
  }
  return wait_for_one(epoll_, told, -1, sleep.signals());
}

// None if the thread has woken too often for what raises no event.
std::optional<int> CqEvents::sleep_and_drive(Sleep& sleep, std::uint64_t& told, Cq*& from) {
  for (int vain_wakes = 0; vain_wakes < kMostVainWakes; ++vain_wakes) {
    std::uint64_t number = 0;
    const int found = wait_for_one(sleep_set_, number, -1, sleep.signals());
    if (found <= 0 || caller_is_left_behind()) return found;
    if (number == kEvents) {
      // Another thread may have been faster.
      if (const int events = wait_for_one(epoll_, told, 0)) return events;
      continue;
    }
    const process::NoCancel whole;
    sleep.drive(number);
    if (take_any(from)) return 1;
  }
  return std::nullopt;
}

// While the queues are locked. False if the system has no descriptor, or no memory, for it.
bool CqEvents::join_sleep_set(std::uint64_t number, Member& member) {
  if (member.in_sleep_set) return true;
  try {
    if (!sleep_set_) {
      process::Descriptor set = make_set();
      if (!watch(set, epoll_.get(), kEvents)) return false;
      sleep_set_ = std::move(set);
    }
    member.in_sleep_set = watch(sleep_set_, member.cq->core->wait_descriptor(), number);
  } catch (const std::exception&) {
    return false;
  }
  return member.in_sleep_set;
}

// `looked`: there is such a queue.
bool CqEvents::take_from_only(Cq*& from, bool& looked) {
  const process::NoCancel whole;
  const std::lock_guard lock(mutex_);
  looked = queues_.size() == 1;
  return looked && give(*queues_.begin()->second.cq, from);
}

// False if the queue has left meanwhile, or another thread was faster. While the set is locked: a
// queue that goes leaves the set, and waits for the events given.
bool CqEvents::take_from(std::uint64_t number, Cq*& from) {
  const process::NoCancel whole;  // what is taken is given
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(number);
  return queue != queues_.end() && give(*queue->second.cq, from);
}

// What is driven for one queue completes the requests of another, too.
bool CqEvents::take_any(Cq*& from) {
  const process::NoCancel whole;
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(queues_,
                             [&](const auto& each) { return give(*each.second.cq, from); });
}

bool CqEvents::give(Cq& cq, Cq*& to) {
  if (!cq.core->take_event()) return false;
  to = &cq;
  ++cq.events_given;
  return true;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return guarded(
      [context]() -> ibv_comp_channel* {
        if (refused(context)) return fail_null(ENODEV);
        auto channel = std::make_unique<Channel>();
        channel->context = ContextUse(context);
        channel->shown.context = context;
        channel->shown.fd = channel->events->descriptor();
        return &channel.release()->shown;
      },
      [](int error) -> ibv_comp_channel* { return fail_null(error); });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (inherited(channel->context)) return 0;
  if (!channel_of(channel).uses.close()) return EBUSY;
  const iwarp::process::NoCancel whole;
  delete &channel_of(channel);
  return 0;
}

// A cancellation point, so it has no exception specification. The event of an only queue is taken
// without a system call that is one.
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  ::pthread_testcancel();
  if (refused(channel->context)) return fail_minus(ENODEV);
  const std::shared_ptr<CqEvents> events = channel_of(channel).events;
  Cq* from = nullptr;
  if (const int error = events->take(from)) return fail_minus(error);
  *cq = &from->shown.plain;
  *cq_context = from->shown.plain.cq_context;
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  ::pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += count;
  ::pthread_cond_broadcast(&cq->cond);
  ::pthread_mutex_unlock(&cq->mutex);
}
