#include "core/qp.hpp"

#include <atomic>

#include "core/context.hpp"
#include "core/cq.hpp"
#include "core/errors.hpp"
#include "core/memory.hpp"
#include "core/srq.hpp"
#include "iwarp/process/no_cancel.hpp"
#include "shared/stack.hpp"
#include "without_cm/rendezvous.hpp"

namespace iwarp::compat {
namespace {

constexpr std::uint64_t kOperations =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW |
    IBV_QP_EX_WITH_SEND_WITH_INV;

// Adapters give some room unasked, and programs (rdma_xclient) send inline without having asked.
constexpr std::uint32_t kLeastInline = 64;

ibv_qp_cap cap_of(const verbs::QpCapacity& capacity) {
  return {capacity.max_send_wr, capacity.max_recv_wr, capacity.max_send_sge, capacity.max_recv_sge,
          capacity.max_inline};
}

verbs::QpCapacity capacity_of(const ibv_qp_cap& cap, const verbs::DeviceAttributes& device) {
  verbs::QpCapacity capacity;
  capacity.max_send_wr = rounded_up(cap.max_send_wr, device.max_qp_wr);
  capacity.max_recv_wr = rounded_up(cap.max_recv_wr, device.max_qp_wr);
  capacity.max_send_sge = std::max(cap.max_send_sge, 1U);
  capacity.max_recv_sge = std::max(cap.max_recv_sge, 1U);
  capacity.max_inline = std::max(cap.max_inline_data, kLeastInline);
  return capacity;
}

// The program connects the one, the connection manager the other.
enum class Connects : std::uint8_t { kProgram, kManager };

std::uint32_t managed_number() {
  static std::atomic<std::uint32_t> next{0};
  std::uint32_t number = 0;
  do {
    number = kManagedNumbers | (next.fetch_add(1) & (kManagedNumbers - 1));
  } while (find_qp(number) != nullptr);
  return number;
}

// Attributes that both forms of creation have.
template <typename Attributes>
std::unique_ptr<Qp> make_qp(ibv_pd* pd, Attributes& attributes, Connects connects) {
  if (refused(pd->context)) return fail_null(ENODEV);
  if (attributes.qp_type != IBV_QPT_RC) return fail_null(EOPNOTSUPP);
  // What another opening of the device has made, the kernel does not find (uverbs looks handles up
  // in the file that they belong to).
  const auto is_foreign = [pd](const auto* queue) { return queue->context != pd->context; };
  if (attributes.send_cq == nullptr || attributes.recv_cq == nullptr ||
      is_foreign(attributes.send_cq) || is_foreign(attributes.recv_cq) ||
      (attributes.srq != nullptr && is_foreign(attributes.srq))) {
    return fail_null(EINVAL);
  }
  auto qp = std::make_unique<Qp>();
  qp->pd = Use(pd_of(pd).uses);
  qp->send_cq = Use(cq_of(attributes.send_cq).uses);
  qp->recv_cq = Use(cq_of(attributes.recv_cq).uses);
  verbs::provider::QpInit init;
  init.send_cq = cq_of(attributes.send_cq).core;
  init.recv_cq = cq_of(attributes.recv_cq).core;
  verbs::provider::Provider& provider = *context_of(pd->context).provider;
  init.capacity = capacity_of(attributes.cap, provider.attributes());
  if (attributes.srq != nullptr) {
    qp->srq = Use(srq_of(attributes.srq).uses);
    init.srq = srq_of(attributes.srq).core;
    init.capacity.max_recv_wr = 0;
  }
  init.receive_wait = receive_wait();
  init.linger = linger_time();
  init.liveness = liveness();
  init.source_buffers = source_buffers();
  init.max_fpdu = max_fpdu();
  init.flushes_late_posts = true;
  init.signaling =
      attributes.sq_sig_all != 0 ? verbs::Signaling::kAll : verbs::Signaling::kPerRequest;
  if (connects == Connects::kProgram) init.number = Rendezvous::get().take_number();
  qp->without_cm = init.connectionless = init.number != 0;
  if (init.number == 0) init.number = managed_number();
  qp->stats = QpStats::if_wanted();
  init.on_event = [events = qp->events, stats = qp->stats](const verbs::ConnectionEvent& event) {
    if (stats != nullptr) stats->note(event);
    (*events)(event);
  };
  auto made = provider.create_qp(pd_of(pd).core, std::move(init));
  if (!made) return fail_null(errno_of(made.error().code));
  qp->core = std::move(*made);
  if (qp->stats != nullptr) qp->stats->follow(qp->core);
  qp->signals_all = attributes.sq_sig_all != 0;
  attributes.cap = cap_of(qp->core->capacity());
  ibv_qp& shown = qp->shown.plain;
  shown.context = pd->context;
  shown.qp_context = attributes.qp_context;
  shown.pd = pd;
  shown.send_cq = attributes.send_cq;
  shown.recv_cq = attributes.recv_cq;
  shown.srq = attributes.srq;
  shown.qp_num = qp->core->number();
  shown.state = IBV_QPS_RESET;
  shown.qp_type = IBV_QPT_RC;
  qp->route.emplace(Element::kQp, shown.qp_num, &shown, context_of(pd->context).async);
  ::pthread_mutex_init(&shown.mutex, nullptr);
  ::pthread_cond_init(&shown.cond, nullptr);
  return qp;
}

}  // namespace

void QpEvents::listen(std::function<void(const verbs::ConnectionEvent&)> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

bool QpEvents::start() {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kNone) return false;
  phase_ = Phase::kStarted;
  return true;
}

void QpEvents::do_not_start() {
  const std::lock_guard lock(mutex_);
  phase_ = Phase::kNone;
}

// One after the other: the end of a queue pair does not overtake what its connection tells.
void QpEvents::operator()(const verbs::ConnectionEvent& event) {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kOver) return;  // told when the queue pair was destroyed
  const bool established = event.kind == verbs::ConnectionEvent::Kind::kEstablished;
  if (established) depths_ = {event.info.ord, event.info.ird};
  phase_ = established ? Phase::kEstablished : Phase::kOver;
  if (handler_) handler_(event);
}

// As drivers do in the kernel (siw_qp_cm_drop()): programs give an id back when they are told that
// its connection is over, though they have destroyed the queue pair before.
void QpEvents::end() {
  const std::lock_guard lock(mutex_);
  const Phase before = std::exchange(phase_, Phase::kOver);
  const auto handler = std::exchange(handler_, nullptr);
  if (!handler) return;
  if (before == Phase::kEstablished) handler({verbs::ConnectionEvent::Kind::kDisconnected, {}, {}});
  if (before == Phase::kStarted) {
    const auto code = std::make_error_code(std::errc::invalid_argument);
    handler({verbs::ConnectionEvent::Kind::kFailed, {code, "the queue pair was destroyed"}, {}});
  }
}

Depths QpEvents::depths() const {
  const std::lock_guard lock(mutex_);
  return depths_;
}

namespace {

ibv_qp* create(ibv_pd* pd, ibv_qp_init_attr& attributes, Connects connects) {
  return guarded(
      [&]() -> ibv_qp* {
        auto qp = make_qp(pd, attributes, connects);
        return qp == nullptr ? nullptr : &qp.release()->shown.plain;
      },
      [](int error) -> ibv_qp* { return fail_null(error); });
}

ibv_qp* create(ibv_qp_init_attr_ex& attributes, Connects connects) {
  constexpr std::uint32_t kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const auto asks = [&attributes](std::uint32_t mask) {
    return (attributes.comp_mask & mask) != 0;
  };
  const bool batches = asks(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
  if (asks(~kKnown) || (asks(IBV_QP_INIT_ATTR_CREATE_FLAGS) && attributes.create_flags != 0) ||
      (batches && (attributes.send_ops_flags & ~kOperations) != 0)) {
    return fail_null(EOPNOTSUPP);
  }
  if (!asks(IBV_QP_INIT_ATTR_PD) || attributes.pd == nullptr) return fail_null(EINVAL);
  return guarded(
      [&]() -> ibv_qp* {
        auto qp = make_qp(attributes.pd, attributes, connects);
        if (qp == nullptr) return nullptr;
        if (batches) {
          qp->batch = std::make_unique<QpBatch>();
          QpBatch::offer(qp->shown.extended);
        }
        return &qp.release()->shown.plain;
      },
      [](int error) -> ibv_qp* { return fail_null(error); });
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context*, ibv_qp_init_attr_ex* attributes) {
  return create(*attributes, Connects::kProgram);
}

ibv_qp* create_managed_qp_ex(ibv_qp_init_attr_ex* attributes) {
  return create(*attributes, Connects::kManager);
}

ibv_qp* create_managed_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return create(pd, *attributes, Connects::kManager);
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return create(pd, *attributes, Connects::kProgram);
}

int ibv_destroy_qp(ibv_qp* shown) {
  if (inherited(shown->context)) return 0;
  const iwarp::process::NoCancel whole;
  Qp& qp = qp_of(shown);
  qp.events->end();
  Rendezvous::get().forget(*qp.core);
  if (qp.stats != nullptr) qp.stats->print();
  qp.core->release();
  qp.route.reset();
  Rendezvous::get().forget(*qp.core);  // a call that came meanwhile
  qp.core.reset();
  ::pthread_cond_destroy(&shown->cond);
  ::pthread_mutex_destroy(&shown->mutex);
  delete &qp;
  return 0;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return qp_of(qp).batch == nullptr ? nullptr : &qp_of(qp).shown.extended;
}
