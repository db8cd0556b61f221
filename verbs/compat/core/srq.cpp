#include "core/srq.hpp"

#include "core/context.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "work/post.hpp"

namespace iwarp::compat {
namespace {

ibv_srq* make_srq(ibv_pd* pd, void* srq_context, ibv_srq_attr& attributes) {
  if (refused(pd->context)) return fail_null(ENODEV);
  if (attributes.max_wr == 0) return fail_null(EINVAL);
  auto srq = std::make_unique<Srq>();
  srq->pd = Use(pd_of(pd).uses);
  verbs::provider::SrqOptions options;
  options.max_wr = attributes.max_wr;
  options.max_sge = std::max(attributes.max_sge, 1U);
  auto made = context_of(pd->context).provider->create_srq(pd_of(pd).core, options);
  if (!made) return fail_null(errno_of(made.error().code));
  srq->core = std::move(*made);
  ibv_srq& shown = srq->shown;
  shown.context = pd->context;
  shown.srq_context = srq_context;
  shown.pd = pd;
  attributes = srq->attributes = {options.max_wr, options.max_sge, 0};
  srq->route.emplace(Element::kSrq, srq->core->number(), &shown, context_of(pd->context).async);
  ::pthread_mutex_init(&shown.mutex, nullptr);
  ::pthread_cond_init(&shown.cond, nullptr);
  return &srq.release()->shown;
}

}  // namespace

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  if (refused(srq->context)) {
    *bad = requests;
    return ENODEV;
  }
  return post_receives(*srq_of(srq).core, requests, bad);
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attributes) {
  constexpr std::uint32_t kKnown = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  const bool basic = (attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 ||
                     attributes->srq_type == IBV_SRQT_BASIC;
  if ((attributes->comp_mask & ~kKnown) != 0 || !basic) return fail_null(EOPNOTSUPP);
  if ((attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0) return fail_null(EINVAL);
  return guarded(
      [&] { return make_srq(attributes->pd, attributes->srq_context, attributes->attr); },
      [](int error) -> ibv_srq* { return fail_null(error); });
}

int srq_number(ibv_srq* srq, std::uint32_t* number) {
  *number = srq_of(srq).core->number();
  return 0;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  return guarded([&] { return make_srq(pd, attributes->srq_context, attributes->attr); },
                 [](int error) -> ibv_srq* { return fail_null(error); });
}

// The limit can be armed; the size stays as it is (no IBV_DEVICE_SRQ_RESIZE).
int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  if (refused(srq->context)) return ENODEV;
  if ((mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) != 0) return EINVAL;
  if ((mask & IBV_SRQ_MAX_WR) != 0) return EOPNOTSUPP;
  if (mask == 0) return 0;
  return guarded_errno([&] {
    const auto done = srq_of(srq).core->arm_limit(attributes->srq_limit);
    return done ? 0 : errno_of(done.error().code);
  });
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  if (refused(srq->context)) return ENODEV;
  *attributes = srq_of(srq).attributes;
  attributes->srq_limit = srq_of(srq).core->limit();
  return 0;
}

int ibv_destroy_srq(ibv_srq* shown) {
  if (inherited(shown->context)) return 0;
  Srq& srq = srq_of(shown);
  if (!srq.uses.close()) return EBUSY;
  const iwarp::process::NoCancel whole;
  srq.route.reset();
  ::pthread_cond_destroy(&shown->cond);
  ::pthread_mutex_destroy(&shown->mutex);
  delete &srq;
  return 0;
}
