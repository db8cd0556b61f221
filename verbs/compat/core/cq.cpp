#include "core/cq.hpp"

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "core/errors.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/process_end.hpp"
#include "work/completion.hpp"

namespace iwarp::compat {
namespace {

// No more of them are given: the queue has left its channel.
void wait_for_acknowledgements(Cq& cq) {
  ibv_cq& shown = cq.shown.plain;
  ::pthread_mutex_lock(&shown.mutex);
  for (;;) {
    // A program may have acknowledged more than it was given.
    if (static_cast<std::int32_t>(shown.comp_events_completed - cq.events_given) >= 0) break;
    ::pthread_cond_wait(&shown.cond, &shown.mutex);
  }
  ::pthread_mutex_unlock(&shown.mutex);
}

}  // namespace

Cq* make_cq(ibv_context* context, std::uint32_t depth, void* cq_context, ibv_comp_channel* channel,
            int vector) {
  if (vector < 0 || vector >= context->num_comp_vectors) return fail_null(EINVAL);
  auto cq = std::make_unique<Cq>();
  verbs::provider::Provider& provider = *context_of(context).provider;
  auto made = provider.create_cq(rounded_up(depth, provider.attributes().max_cqe));
  if (!made) return fail_null(errno_of(made.error().code));
  cq->core = std::move(*made);
  ibv_cq& shown = cq->shown.plain;
  cq->context = ContextUse(context);
  shown.context = context;
  shown.cq_context = cq_context;
  shown.cqe = static_cast<int>(cq->core->capacity());
  if (channel != nullptr) {
    cq->watch.emplace(channel_of(channel).events, *cq);
    cq->channel = Use(channel_of(channel).uses);
    shown.channel = channel;
  }
  cq->route.emplace(Element::kCq, cq->core->number(), &shown, context_of(context).async);
  ::pthread_mutex_init(&shown.mutex, nullptr);
  ::pthread_cond_init(&shown.cond, nullptr);
  return cq.release();
}

// Fewer than asked for means that there were no more: programs sleep then.
int poll_cq(ibv_cq* cq, int count, ibv_wc* into) {
  if (count < 0 || refused(cq->context)) return -1;
  constexpr std::size_t kBatch = 32;
  const auto asked = static_cast<std::size_t>(count);
  boost::container::static_vector<verbs::Completion, kBatch> batch(std::min(asked, kBatch));
  int total = 0;
  while (total < count) {
    const auto most = std::min(static_cast<std::size_t>(count - total), batch.size());
    const std::size_t got = cq_of(cq).core->poll({batch.data(), most});
    for (std::size_t i = 0; i < got; ++i) fill(into[total++], batch[i]);
    if (got < most) break;
  }
  return caller_is_left_behind() ? 0 : total;
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  if (refused(cq->context)) return ENODEV;
  cq_of(cq).core->arm(solicited_only != 0 ? verbs::provider::Arm::kSolicited
                                          : verbs::provider::Arm::kAny);
  return 0;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_cq* ibv_create_cq(ibv_context* context, int depth, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  if (refused(context)) return fail_null(ENODEV);
  if (depth < 1) return fail_null(EINVAL);
  return guarded(
      [&]() -> ibv_cq* {
        Cq* cq = make_cq(context, static_cast<std::uint32_t>(depth), cq_context, channel, vector);
        return cq == nullptr ? nullptr : &cq->shown.plain;
      },
      [](int error) -> ibv_cq* { return fail_null(error); });
}

int ibv_resize_cq(ibv_cq* cq, int depth) {
  if (refused(cq->context)) return ENODEV;
  if (depth < 1) return EINVAL;
  return guarded_errno([&] {
    const std::uint32_t most = context_of(cq->context).provider->attributes().max_cqe;
    const auto done = cq_of(cq).core->resize(rounded_up(static_cast<std::uint32_t>(depth), most));
    if (!done) return errno_of(done.error().code);
    cq->cqe = static_cast<int>(cq_of(cq).core->capacity());
    return 0;
  });
}

int ibv_destroy_cq(ibv_cq* shown) {
  if (inherited(shown->context)) return 0;
  Cq& cq = cq_of(shown);
  if (!cq.uses.close()) return EBUSY;
  const iwarp::process::NoCancel whole;
  cq.watch.reset();
  wait_for_acknowledgements(cq);
  cq.route.reset();
  ::pthread_cond_destroy(&shown->cond);
  ::pthread_mutex_destroy(&shown->mutex);
  delete &cq;
  return 0;
}
