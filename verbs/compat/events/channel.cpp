#include "events/channel.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/cq.hpp"
#include "core/errors.hpp"
#include "events/event_fd.hpp"
#include "iwarp/process/no_cancel.hpp"

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

int CqEvents::take(Cq*& from) {
  for (;;) {
    if (const int error = await_readable(epoll_)) return error;
    const process::NoCancel whole;  // what is taken is given
    epoll_event event{};
    const int found = ::epoll_wait(epoll_, &event, 1, 0);
    if (found == 0 || (found < 0 && errno == EINTR)) continue;  // another thread was faster
    if (found < 0) return errno;  // the program has closed it, or made it another thing
    // While the set is locked: a queue that goes leaves the set, and waits for the events given.
    const std::lock_guard lock(mutex_);
    const auto queue = queues_.find(event.data.u64);
    if (queue == queues_.end()) continue;              // it has left meanwhile
    if (!queue->second->core->take_event()) continue;  // another thread was faster
    from = queue->second;
    ++from->events_given;
    return 0;
  }
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

// A cancellation point, so it has no exception specification.
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
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
