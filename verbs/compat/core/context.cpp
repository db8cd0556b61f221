#include "core/context.hpp"

#include <pthread.h>

#include <cstdint>

#include "core/cq.hpp"
#include "core/domains.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "core/qp.hpp"
#include "core/query.hpp"
#include "core/srq.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {

Context::Context(Device& device, std::shared_ptr<verbs::provider::Provider> with)
    : provider(std::move(with)) {
  extended.sz = sizeof extended;
  ibv_context& context = extended.context;
  context.device = &device.shown;
  context.cmd_fd = -1;
  context.async_fd = async.descriptor();
  context.num_comp_vectors = 1;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  ::pthread_mutex_init(&context.mutex, nullptr);
  fill_operations(extended);
}

Context::~Context() { ::pthread_mutex_destroy(&extended.context.mutex); }

ContextUse::ContextUse(ibv_context* shown) : context_(&context_of(shown)) { context_->hold(); }

ContextUse::~ContextUse() {
  if (context_ != nullptr) context_->let_go();
}

Context& context_of(ibv_context* shown) {
  return *reinterpret_cast<Context*>(verbs_get_ctx(shown));
}

// What is not here the header answers itself, with EOPNOTSUPP or ENOSYS.
void fill_operations(verbs_context& verbs) {
  verbs.query_port = &query_port;
  verbs.query_device_ex = &query_device_ex;
  verbs.create_cq_ex = &create_cq_ex;
  verbs.create_qp_ex = &create_qp_ex;
  verbs.create_srq_ex = &create_srq_ex;
  verbs.get_srq_num = &srq_number;
  verbs.advise_mr = &advise_mr;
  verbs.alloc_td = &alloc_td;
  verbs.dealloc_td = &dealloc_td;
  verbs.alloc_parent_domain = &alloc_parent_domain;
  ibv_context_ops& ops = verbs.context.ops;
  ops.alloc_mw = &alloc_mw;
  ops.dealloc_mw = &dealloc_mw;
  ops.bind_mw = &bind_mw;
  ops.poll_cq = &poll_cq;
  ops.req_notify_cq = &req_notify_cq;
  ops.post_srq_recv = &post_srq_recv;
  ops.post_send = &post_send;
  ops.post_recv = &post_recv;
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_context* ibv_open_device(ibv_device* device) {
  return guarded(
      [device]() -> ibv_context* {
        auto stack = provider();
        if (stack == nullptr) return fail_null(ENODEV);
        return (new Context(device_of(device), std::move(stack)))->shown();
      },
      [](int error) -> ibv_context* { return fail_null(error); });
}

int ibv_close_device(ibv_context* context) {
  if (!inherited(context)) context_of(context).let_go();
  return 0;
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  if (refused(context)) return fail_minus(ENODEV);
  const int error = take_async_event(context_of(context).async, *event);
  return error == 0 ? 0 : fail_minus(error);
}

void ibv_ack_async_event(ibv_async_event* event) { acknowledge_async_event(*event); }
