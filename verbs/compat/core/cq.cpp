#include "core/cq.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "core/completion.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

bool watch(Channel& channel, Cq& cq) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &cq;
  return ::epoll_ctl(channel.shown.fd, EPOLL_CTL_ADD, cq.core->event_descriptor(), &event) == 0;
}

void unwatch(Cq& cq) {
  if (cq.shown.plain.channel == nullptr) return;
  ::epoll_ctl(cq.shown.plain.channel->fd, EPOLL_CTL_DEL, cq.core->event_descriptor(), nullptr);
}

// Takes an event of any queue of the channel. 0, or an errno.
int take_event(ibv_comp_channel& channel, Cq*& from) {
  for (;;) {
    const int flags = ::fcntl(channel.fd, F_GETFL);
    if (flags < 0) return errno;
    epoll_event event{};
    const int found = ::epoll_wait(channel.fd, &event, 1, (flags & O_NONBLOCK) != 0 ? 0 : -1);
    if (found < 0) return errno;
    if (found == 0) return EAGAIN;
    from = static_cast<Cq*>(event.data.ptr);
    const std::lock_guard lock(from->mutex);
    if (!from->core->take_event()) continue;  // another thread was faster
    ++from->events_given;
    return 0;
  }
}

void wait_for_acknowledgements(Cq& cq) {
  ibv_cq& shown = cq.shown.plain;
  ::pthread_mutex_lock(&shown.mutex);
  for (;;) {
    std::uint32_t given = 0;
    {
      const std::lock_guard lock(cq.mutex);
      given = cq.events_given;
    }
    // A program may have acknowledged more than it was given.
    if (static_cast<std::int32_t>(shown.comp_events_completed - given) >= 0) break;
    ::pthread_cond_wait(&shown.cond, &shown.mutex);
  }
  ::pthread_mutex_unlock(&shown.mutex);
}

}  // namespace

Cq* make_cq(ibv_context* context, std::uint32_t depth, void* cq_context, ibv_comp_channel* channel,
            int vector) {
  if (vector < 0 || vector >= context->num_comp_vectors) return fail_null(EINVAL);
  auto cq = std::make_unique<Cq>();
  auto made = context_of(context).provider->create_cq(depth);
  if (!made) return fail_null(errno_of(made.error().code));
  cq->core = std::move(*made);
  ibv_cq& shown = cq->shown.plain;
  cq->context = ContextUse(context);
  shown.context = context;
  shown.cq_context = cq_context;
  shown.cqe = static_cast<int>(cq->core->capacity());
  if (channel != nullptr) {
    if (!watch(channel_of(channel), *cq)) return fail_null(errno);
    cq->channel = Use(channel_of(channel).uses);
    shown.channel = channel;
  }
  cq->route.emplace(Element::kCq, cq->core->number(), &shown, context_of(context).async);
  ::pthread_mutex_init(&shown.mutex, nullptr);
  ::pthread_cond_init(&shown.cond, nullptr);
  return cq.release();
}

int poll_cq(ibv_cq* cq, int count, ibv_wc* into) {
  if (count < 0 || inherited(cq->context)) return -1;
  std::array<verbs::Completion, 32> batch;
  const auto most = std::min(static_cast<std::size_t>(count), batch.size());
  const std::size_t got = cq_of(cq).core->poll({batch.data(), most});
  for (std::size_t i = 0; i < got; ++i) fill(into[i], batch[i]);
  return static_cast<int>(got);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  if (inherited(cq->context)) return ENODEV;
  cq_of(cq).core->arm(solicited_only != 0 ? verbs::provider::Arm::kSolicited
                                          : verbs::provider::Arm::kAny);
  return 0;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return guarded(
      [context]() -> ibv_comp_channel* {
        if (inherited(context)) return fail_null(ENODEV);
        auto channel = std::make_unique<Channel>();
        channel->context = ContextUse(context);
        channel->shown.context = context;
        channel->shown.fd = ::epoll_create1(EPOLL_CLOEXEC);
        if (channel->shown.fd < 0) return nullptr;
        return &channel.release()->shown;
      },
      [](int error) -> ibv_comp_channel* { return fail_null(error); });
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (inherited(channel->context)) return 0;
  if (!channel_of(channel).uses.close()) return EBUSY;
  ::close(channel->fd);
  delete &channel_of(channel);
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int depth, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  if (inherited(context)) return fail_null(ENODEV);
  if (depth < 1) return fail_null(EINVAL);
  return guarded(
      [&]() -> ibv_cq* {
        Cq* cq = make_cq(context, static_cast<std::uint32_t>(depth), cq_context, channel, vector);
        return cq == nullptr ? nullptr : &cq->shown.plain;
      },
      [](int error) -> ibv_cq* { return fail_null(error); });
}

int ibv_resize_cq(ibv_cq* cq, int depth) {
  if (inherited(cq->context)) return ENODEV;
  if (depth < 1) return EINVAL;
  return guarded_errno([&] {
    const auto done = cq_of(cq).core->resize(static_cast<std::uint32_t>(depth));
    if (!done) return errno_of(done.error().code);
    cq->cqe = static_cast<int>(cq_of(cq).core->capacity());
    return 0;
  });
}

int ibv_destroy_cq(ibv_cq* shown) {
  if (inherited(shown->context)) return 0;
  Cq& cq = cq_of(shown);
  if (!cq.uses.close()) return EBUSY;
  unwatch(cq);
  wait_for_acknowledgements(cq);
  ::pthread_cond_destroy(&shown->cond);
  ::pthread_mutex_destroy(&shown->mutex);
  delete &cq;
  return 0;
}

// A cancellation point, so no exception specification and no destructor is between it and its wait.
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (inherited(channel->context)) return fail_minus(ENODEV);
  Cq* from = nullptr;
  if (const int error = take_event(*channel, from)) return fail_minus(error);
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
