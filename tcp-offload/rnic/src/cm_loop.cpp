#include "cm_loop.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <new>
#include <system_error>

#include "iwarp/process/quiet_thread.hpp"
#include "iwarp/provider/failure.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Of a connection that stands siw tells the depths the other way round: at neither end they are
// what librdmacm calls them (siw_cm_upcall() of Linux 6.1).
bool has_swapped_depths(const Adapter& adapter, rdma_cm_event_type type) {
  return adapter.is_siw() && type == RDMA_CM_EVENT_ESTABLISHED;
}

CmEvent copy_of(const Adapter& adapter, const rdma_cm_event& event) {
  CmEvent copy;
  copy.type = event.event;
  copy.status = event.status;
  copy.id = event.id;
  const rdma_conn_param& from = event.param.conn;
  copy.ird = from.responder_resources;
  copy.ord = from.initiator_depth;
  if (has_swapped_depths(adapter, event.event)) std::swap(copy.ird, copy.ord);
  const auto* data = static_cast<const std::byte*>(from.private_data);
  if (data != nullptr) copy.private_data.assign(data, data + from.private_data_len);
  return copy;
}

}  // namespace

CmLoop::CmLoop(std::shared_ptr<Adapter> adapter, NativeCmChannel channel, HiddenDescriptor wake,
               AsyncTask on_async)
    : adapter_(std::move(adapter)),
      channel_(std::move(channel)),
      wake_(std::move(wake)),
      on_async_(std::move(on_async)),
      channel_in_children_(channel_->fd) {}

Outcome<std::shared_ptr<CmLoop>> CmLoop::start(std::shared_ptr<Adapter> adapter,
                                               AsyncTask on_async) {
  HiddenDescriptor wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) return failure(adapter->error("there is no descriptor for its thread", errno));
  NativeCmChannel channel(adapter->core.rdma_create_event_channel(), {&adapter->core});
  if (!channel) {
    return failure(
        adapter->error("there is no channel for its connections", why_not_used("rdma_cm", errno)));
  }
  make_nonblocking(channel->fd);
  make_nonblocking(adapter->context->async_fd);
  std::shared_ptr<CmLoop> loop(
      new CmLoop(std::move(adapter), std::move(channel), std::move(wake), std::move(on_async)));
  // The handle is there before the thread: from then on nothing fails.
  auto owner = std::make_shared<std::shared_ptr<CmLoop>>();
  CmLoop* const started = loop.get();
  std::shared_ptr<CmLoop> handle(started, [owner](CmLoop*) {
    if (*owner) stop(std::move(*owner));
  });
  try {
    started->thread_ = process::quiet_thread([started] { started->run(); });
  } catch (const std::system_error& thrown) {
    return failure(
        verbs::error_of(thrown, started->adapter_->name + ": there is no thread for it"));
  }
  *owner = std::move(loop);
  return handle;
}

CmLoop::~CmLoop() {
  if (origin_.inherited()) static_cast<void>(channel_.release());
  channel_in_children_.release();
}

bool CmLoop::on_own_thread() const { return std::this_thread::get_id() == own_.load(); }

// Its own thread cannot wait for itself: another one does.
void CmLoop::stop(std::shared_ptr<CmLoop> last) {
  if (last->origin_.inherited()) {
    process::keep_inherited(new std::shared_ptr<CmLoop>(std::move(last)));
    return;
  }
  {
    const std::lock_guard lock(last->mutex_);
    last->stops_ = true;
  }
  last->wake();
  if (!last->on_own_thread()) return last->thread_.join();
  std::thread([last = std::move(last)]() mutable { last->thread_.join(); }).detach();
}

void CmLoop::wake() { ::eventfd_write(wake_.get(), 1); }

// ---- What others ask of it ----

Outcome<CmId> CmLoop::make_id(const std::weak_ptr<CmTarget>& target) {
  rdma_cm_id* made = nullptr;
  if (adapter_->core.rdma_create_id(channel_.get(), &made, nullptr, RDMA_PS_TCP) != 0) {
    return failure(adapter_->error("it has no room for one more connection", errno));
  }
  CmId id(adapter_->core, made);
  watch(id, target);
  return id;
}

void CmLoop::watch(const CmId& id, std::weak_ptr<CmTarget> target) {
  const std::lock_guard lock(mutex_);
  targets_[id.get()] = std::move(target);
}

void CmLoop::forget(const CmId& id) {
  const std::lock_guard lock(mutex_);
  targets_.erase(id.get());
}

void CmLoop::forget_and_wait(const CmId& id) {
  std::unique_lock lock(mutex_);
  targets_.erase(id.get());
  if (on_own_thread()) return;
  idle_.wait(lock, [&] { return dispatched_ != id.get(); });
}

void CmLoop::post_at(Clock::time_point at, Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace(at, std::move(task));
  }
  if (!on_own_thread()) wake();
}

void CmLoop::run_apart(Task task) {
  try {
    process::quiet_thread(task).detach();
  } catch (const std::exception& thrown) {
    verbs::log_failure("an adapter's connection gets no thread of its own", thrown);
    verbs::call_program([&] { task(); });
  }
}

// ---- Its thread ----

void CmLoop::run() {
  own_ = std::this_thread::get_id();
  while (take_turn()) continue;
}

bool CmLoop::take_turn() {
  const Clock::time_point next = run_due();
  {
    const std::lock_guard lock(mutex_);
    if (stops_) return false;
  }
  wait(next);
  take_cm_events();
  take_async_events();
  return true;
}

void CmLoop::wait(Clock::time_point until) {
  std::array<pollfd, 3> at{pollfd{wake_.get(), POLLIN, 0}, pollfd{channel_->fd, POLLIN, 0},
                           pollfd{adapter_->context->async_fd, POLLIN, 0}};
  int milliseconds = -1;
  if (until != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
  }
  // Of an adapter that has been removed they are at an end for ever.
  if (channel_over_) at[1].fd = -1;
  if (async_over_) at[2].fd = -1;
  ::poll(at.data(), at.size(), milliseconds);
  const auto is_over = [](const pollfd& one) {
    return (one.revents & (POLLERR | POLLHUP)) != 0 && (one.revents & POLLIN) == 0;
  };
  channel_over_ = channel_over_ || is_over(at[1]);
  async_over_ = async_over_ || is_over(at[2]);
  eventfd_t count = 0;
  ::eventfd_read(wake_.get(), &count);
}

CmLoop::Clock::time_point CmLoop::run_due() {
  for (;;) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty() || stops_) return Clock::time_point::max();
      const auto first = tasks_.begin();
      if (first->first > Clock::now()) return first->first;
      task = std::move(first->second);
      tasks_.erase(first);
    }
    call_patiently(task);
  }
}

// What fails for want of memory must not be lost: an end would never be told. The last turn of a
// thread that is to stop is not tried again.
template <typename Call>
void CmLoop::call_patiently(const Call& call) {
  constexpr std::chrono::milliseconds kPause{10};
  verbs::call_program([&] {
    for (bool stops = false;;) {
      try {
        return call();
      } catch (const std::bad_alloc&) {
        if (stops) throw;
      }
      std::this_thread::sleep_for(kPause);
      const std::lock_guard lock(mutex_);
      stops = stops_;
    }
  });
}

void CmLoop::take_cm_events() {
  rdma_cm_event* event = nullptr;
  while (adapter_->core.rdma_get_cm_event(channel_.get(), &event) == 0) {
    take(event);
  }
}

void CmLoop::take(rdma_cm_event* event) {
  // Destroying an identifier waits for this.
  const auto acknowledge = [this](rdma_cm_event* one) { adapter_->core.rdma_ack_cm_event(one); };
  std::unique_ptr<rdma_cm_event, decltype(acknowledge)> held(event, acknowledge);
  CmEvent copy;
  call_patiently([&] { copy = copy_of(*adapter_, *event); });
  rdma_cm_id* const of = event->listen_id != nullptr ? event->listen_id : event->id;
  held.reset();
  dispatch(of, std::move(copy));
}

void CmLoop::dispatch(rdma_cm_id* of, CmEvent event) {
  std::shared_ptr<CmTarget> target;
  {
    const std::lock_guard lock(mutex_);
    const auto found = targets_.find(of);
    if (found != targets_.end()) target = found->second.lock();
    dispatched_ = target ? of : nullptr;
  }
  if (target) {
    call_patiently([&] { target->on_cm_event(event); });
  } else if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    adapter_->core.rdma_reject(event.id, nullptr, 0);
    adapter_->core.rdma_destroy_id(event.id);
  }
  {
    const std::lock_guard lock(mutex_);
    dispatched_ = nullptr;
  }
  idle_.notify_all();
}

void CmLoop::take_async_events() {
  ibv_async_event event{};
  while (adapter_->core.ibv_get_async_event(adapter_->context, &event) == 0) {
    Task behind;
    call_patiently([&] { behind = on_async_(event); });
    adapter_->core.ibv_ack_async_event(&event);
    if (behind) call_patiently(behind);
  }
}

}  // namespace iwarp::rnic
