#include "events/channel.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/cq.hpp"
#include "core/errors.hpp"
#include "events/event_fd.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {

CqEvents::CqEvents() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category());
}

CqEvents::~CqEvents() { ::close(epoll_); }

void CqEvents::add(Cq& cq) {
  const int descriptor = cq.core->event_descriptor();
  const std::lock_guard lock(mutex_);
  const auto added = queues_.emplace(next_++, &cq).first;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = added->first;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return;
  const int error = errno;
  queues_.erase(added);
  throw std::system_error(error, std::generic_category());
}

void CqEvents::remove(const Cq& cq) {
  const std::lock_guard lock(mutex_);
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, cq.core->event_descriptor(), nullptr);
  std::erase_if(queues_, [&cq](const auto& each) { return each.second == &cq; });
}

// Most programs have been told by poll(2) that there is one; only where there is none it matters
// whether the descriptor is blocking. A queue that gives none makes no difference to the others: a
// program that is told of changes only would not ask again. A queue without company need not be
// found first.
int CqEvents::take(Cq*& from) {
  bool looked = false;
  if (!caller_is_left_behind() && take_from_only(from, looked)) return 0;
  epoll_event event{};
  const auto wait = [this, &event](int milliseconds) {
    return ::epoll_wait(epoll_, &event, 1, milliseconds);
  };
  for (;;) {
    const bool found = !std::exchange(looked, false) && !caller_is_left_behind() && wait(0) > 0;
    if (!found) {  // or an error: the program has closed it, or made it another thing
      if (const int error = await_event(epoll_, [&wait] { return wait(-1); })) return error;
    }
    if (take_from(event.data.u64, from)) return 0;
  }
}

// `looked`: there is such a queue.
bool CqEvents::take_from_only(Cq*& from, bool& looked) {
  const process::NoCancel whole;
  const std::lock_guard lock(mutex_);
  looked = queues_.size() == 1;
  return looked && give(*queues_.begin()->second, from);
}

// False if the queue has left meanwhile, or another thread was faster. While the set is locked: a
// queue that goes leaves the set, and waits for the events given.
bool CqEvents::take_from(std::uint64_t number, Cq*& from) {
  const process::NoCancel whole;  // what is taken is given
  const std::lock_guard lock(mutex_);
  const auto queue = queues_.find(number);
  return queue != queues_.end() && give(*queue->second, from);
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
