#include "iwarp/verbs/verbs.hpp"

#include <algorithm>
#include <thread>

#include "event_box.hpp"
#include "inbox.hpp"
#include "iwarp/base/deadline.hpp"
#include "iwarp/process/forks.hpp"
#include "outcome_wait.hpp"
#include "patient_wait.hpp"

namespace iwarp::verbs {
namespace {

Outcome<ConnectionInfo> await(provider::Qp& qp, std::optional<Outcome<ConnectionInfo>> outcome) {
  if (outcome) return std::move(*outcome);
  qp.abort();
  return fail(std::errc::timed_out, "the connection was not established in time");
}

}  // namespace

RemoteBuffer MemoryRegion::remote(std::size_t offset, std::uint64_t length) const {
  return {rkey(), reinterpret_cast<std::uintptr_t>(address(offset)), length};
}

void* MemoryRegion::address(std::size_t offset) const {
  if (!has(access_, Access::kZeroBased)) return memory_.data() + offset;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(offset));
}

Outcome<void> MemoryRegion::reregister(const ProtectionDomain& pd, MutableBytes memory,
                                       Access access) {
  auto done = owner_->reregister_memory(*core_, pd.core_, memory, access);
  if (!done) return done;
  memory_ = memory;
  access_ = access;
  return {};
}

std::optional<Completion> CompletionQueue::wait(std::chrono::milliseconds timeout) {
  timeout = std::min<std::chrono::milliseconds>(timeout, kLongestWait);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Completion completion;
  for (auto left = timeout; core_->wait(left);) {
    if (core_->poll({&completion, 1}) == 1) return completion;
    // Another thread has taken what woke this one.
    left = std::max(
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()),
        std::chrono::milliseconds(0));
  }
  return std::nullopt;
}

Outcome<ConnectionInfo> QueuePair::connect(const Endpoint& to, const ConnectOptions& options) {
  if (auto started = core_->connect(to, options); !started) return failure(started.error());
  return await(*core_, events_->wait_established(outcome_wait(options.timeout)));
}

Outcome<void> QueuePair::start_connect(const Endpoint& to, const ConnectOptions& options) {
  return core_->connect(to, options);
}

ConnectionInfo QueuePair::info() const { return events_->info(); }

bool QueuePair::wait_disconnected(std::chrono::milliseconds timeout) {
  return events_->wait_ended(timeout);
}

bool QueuePair::drain(std::chrono::milliseconds timeout) {
  if (events_->refuses()) return false;
  if (core_->state() != QpState::kError) core_->close();
  if (core_->drained()) return true;
  return wait_patiently(timeout, [this](auto step) {
    constexpr std::chrono::nanoseconds kPause = std::chrono::milliseconds(1);
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(step, kPause));
    return core_->drained();
  });
}

Outcome<MemoryRegion> ProtectionDomain::register_memory(MutableBytes memory, Access access) {
  auto core = owner_->register_memory(core_, memory, access);
  if (!core) return failure(core.error());
  return MemoryRegion(owner_, std::move(*core), memory, access);
}

// A provider takes all memory as it comes: that of these rights it only reads.
Outcome<ConstMemoryRegion> ProtectionDomain::register_memory(ConstBytes memory,
                                                             SourceAccess access) {
  const MutableBytes read_only(const_cast<std::byte*>(memory.data()), memory.size());
  auto region = register_memory(read_only, static_cast<Access>(access));
  if (!region) return failure(region.error());
  return ConstMemoryRegion(std::move(*region));
}

Outcome<MemoryWindow> ProtectionDomain::alloc_window(WindowType type) {
  auto core = owner_->alloc_window(core_, type);
  if (!core) return failure(core.error());
  return MemoryWindow(std::move(*core));
}

Outcome<FastRegion> ProtectionDomain::alloc_fast_region() {
  auto core = owner_->alloc_fast_region(core_);
  if (!core) return failure(core.error());
  return FastRegion(std::move(*core));
}

Outcome<SharedReceiveQueue> ProtectionDomain::create_srq(const SrqOptions& options) {
  auto core = owner_->create_srq(core_, options);
  if (!core) return failure(core.error());
  return SharedReceiveQueue(std::move(*core));
}

Outcome<QueuePair> ProtectionDomain::create_qp(const CompletionQueue& send_cq,
                                               const CompletionQueue& recv_cq, QpOptions options) {
  auto events = process::make_shared_here<QueuePair::EventBox>();
  auto on_event = [events, user = std::move(options.on_event)](ConnectionEvent event) {
    events->add(event);
    if (user) user(event);
  };
  auto srq = options.srq == nullptr ? nullptr : options.srq->core_;
  auto core = owner_->create_qp(core_, {.send_cq = send_cq.core_,
                                        .recv_cq = recv_cq.core_,
                                        .srq = std::move(srq),
                                        .capacity = options.capacity,
                                        .signaling = options.signaling,
                                        .on_event = std::move(on_event),
                                        .capture = std::move(options.capture),
                                        .receive_wait = options.receive_wait,
                                        .linger = options.linger,
                                        .liveness = options.liveness,
                                        .source_buffers = options.source_buffers,
                                        .max_fpdu = options.max_fpdu});
  if (!core) return failure(core.error());
  // The last handle releases the queue pair, whatever still shares its ownership.
  std::shared_ptr<provider::Qp> handle(core->get(), [owner = *core](auto*) { owner->release(); });
  return QueuePair(std::move(handle), std::move(events));
}

Outcome<ConnectionInfo> ConnectionRequest::accept(QueuePair& qp, const ConnectOptions& options) {
  if (auto accepted = core_->accept(qp.core_, options); !accepted) {
    return failure(accepted.error());
  }
  return await(*qp.core_, qp.events_->wait_established(outcome_wait(options.timeout)));
}

std::optional<ConnectionRequest> Listener::next(std::chrono::milliseconds timeout) {
  auto request = inbox_->next(timeout);
  if (!request) return std::nullopt;
  return ConnectionRequest(std::move(request));
}

Outcome<ProtectionDomain> Device::alloc_pd() {
  auto core = core_->alloc_pd();
  if (!core) return failure(core.error());
  return ProtectionDomain(core_, std::move(*core));
}

Outcome<CompletionQueue> Device::create_cq(std::uint32_t depth) {
  auto core = core_->create_cq(depth);
  if (!core) return failure(core.error());
  return CompletionQueue(std::move(*core));
}

Outcome<Listener> Device::listen(const Endpoint& at, const ListenOptions& options,
                                 IncomingHandler handler) {
  auto core = core_->listen(at, options, [handler = std::move(handler)](auto request) {
    handler(ConnectionRequest(std::move(request)));
  });
  if (!core) return failure(core.error());
  return Listener(process::make_shared_here<Listener::Inbox>(std::size_t{0}), std::move(*core));
}

Outcome<Listener> Device::listen(const Endpoint& at, const ListenOptions& options) {
  const auto most = static_cast<std::size_t>(std::max(options.backlog, 1));
  auto inbox = process::make_shared_here<Listener::Inbox>(most);
  auto core = core_->listen(at, options, [inbox, told = options.on_waiting](auto request) {
    if (inbox->add(std::move(request)) && told) told();
  });
  if (!core) return failure(core.error());
  return Listener(std::move(inbox), std::move(*core));
}

}  // namespace iwarp::verbs
