#include "device_core.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <vector>

#include "connection_core.hpp"
#include "iwarp/base/deadline.hpp"
#include "make_shared_here.hpp"
#include "pool_core.hpp"
#include "throw_error.hpp"

namespace iwarp::asio::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirstDepth = 1024;
// Where the queue cannot grow with the connections: room for a thousand of them.
constexpr std::uint32_t kOnlyDepth = 1U << 16U;
// A thread that has polled within that time is expected to poll again.
constexpr auto kProgramPolls = 2ms;

std::uint32_t first_depth(const verbs::DeviceAttributes& device) {
  return device.resizes_cq ? kFirstDepth : std::min(device.max_cqe, kOnlyDepth);
}

/// Tells the devices of an execution context that it ends.
class shutdown_service final : public boost::asio::execution_context::service {
 public:
  using key_type = shutdown_service;
  inline static boost::asio::execution_context::id id;

  explicit shutdown_service(boost::asio::execution_context& context) : service(context) {}

  [[nodiscard]] const std::shared_ptr<device_list>& devices() const { return devices_; }

 private:
  void shutdown() override {
    for (const auto& device : devices_->end()) device->shut_down();
  }
  void notify_fork(boost::asio::execution_context::fork_event event) override {
    devices_->notify_fork(event);
  }

  std::shared_ptr<device_list> devices_ = std::make_shared<device_list>();
};

}  // namespace

device_core::device_core(any_io_executor executor, verbs::Device device)
    : executor_(std::move(executor)),
      device_(std::move(device)),
      queue_(value_or_throw(device_.create_cq(first_depth(device_.attributes())))) {
  // Made now: here it may fail, not when the device is to sleep.
  static_cast<void>(queue_.wait_descriptor());
  descriptor_.emplace(executor_);
  timer_.emplace(executor_);
}

// The services of descriptor and timer are older than this one, so they are shut down later.
void device_core::attach() {
  auto& context = boost::asio::query(executor_, boost::asio::execution::context);
  siblings_ = boost::asio::use_service<shutdown_service>(context).devices();
  siblings_->add(*this, weak_from_this());
}

device_core::~device_core() {
  leave_context();  // first: as long as it is known, the context waits for it here
  if (siblings_) siblings_->remove(*this);
}

// The queue closes the descriptor.
void device_core::leave_context() {
  const std::lock_guard lock(watch_mutex_);
  stop_sleeping();  // the handler may never run
  if (descriptor_) descriptor_->release();
  descriptor_.reset();
  timer_.reset();
}

// ---- The devices of one execution context ----

void device_list::add(device_core& device, std::weak_ptr<device_core> link) {
  const std::lock_guard lock(mutex_);
  devices_[&device] = std::move(link);
}

// Waits while the context ends: what it takes from the device is gone then.
void device_list::remove(device_core& device) {
  const std::lock_guard lock(mutex_);
  devices_.erase(&device);
}

// One that is being destroyed at this moment, by another thread, leaves once more or waits in
// remove().
std::vector<std::shared_ptr<device_core>> device_list::end() {
  std::vector<std::shared_ptr<device_core>> alive;
  if (origin_.inherited()) return alive;  // what they have in it would be taken from the parent
  const std::lock_guard lock(mutex_);
  for (const auto& [device, link] : devices_) {
    if (auto owner = link.lock()) {
      alive.push_back(std::move(owner));
    } else {
      device->leave_context();
    }
  }
  return alive;
}

void device_core::add_room(std::uint32_t entries) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t wanted = room_wanted_ + entries;
  if (wanted > queue_.capacity()) {
    const std::uint64_t most = device_.attributes().max_cqe;
    const std::uint64_t depth = std::max(wanted, std::min(wanted * 2, most));
    if (depth > UINT32_MAX)
      value_or_throw(verbs::Outcome<void>(verbs::fail(
          std::errc::invalid_argument, "completion queue: too many connections of one device")));
    if (!device_.attributes().resizes_cq) {
      value_or_throw(
          verbs::Outcome<void>(verbs::fail(std::errc::not_enough_memory,
                                           "completion queue: too many connections of one device, "
                                           "whose queues cannot be resized")));
    }
    value_or_throw(queue_.resize(static_cast<std::uint32_t>(depth)));
  }
  room_wanted_ = wanted;
}

// What has completed may still be in the queue, so this waits for a poll that empties it.
void device_core::remove_room(std::uint32_t entries) { room_to_remove_.fetch_add(entries); }

void device_core::forget_room(std::uint64_t entries) {
  room_to_remove_.fetch_sub(entries);
  const std::lock_guard lock(mutex_);
  room_wanted_ -= entries;
  // After a crowd. Where more completions wait than would fit, or memory is short, it stays as it
  // is.
  constexpr std::uint64_t kWorthIt = 4;
  const std::uint64_t enough = std::max<std::uint64_t>(room_wanted_ * 2, kFirstDepth);
  if (!device_.attributes().resizes_cq || queue_.capacity() / kWorthIt < enough) return;
  static_cast<void>(queue_.resize(static_cast<std::uint32_t>(enough)));
}

void device_core::add(dependent& one, std::weak_ptr<dependent> link) {
  const std::lock_guard lock(mutex_);
  dependents_[&one] = std::move(link);
}

void device_core::remove(dependent& one) {
  if (inherited()) return;
  const std::lock_guard lock(mutex_);
  dependents_.erase(&one);
}

void device_core::add_connection(std::uint32_t qp_number,
                                 std::weak_ptr<connection_core> connection) {
  const std::lock_guard lock(mutex_);
  connections_[qp_number] = std::move(connection);
}

void device_core::remove_connection(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  connections_.erase(qp_number);
}

std::shared_ptr<connection_core> device_core::connection_of(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  const auto at = connections_.find(qp_number);
  return at == connections_.end() ? nullptr : at->second.lock();
}

std::uint32_t device_core::add_pool(std::weak_ptr<pool_core> pool) {
  const std::lock_guard lock(mutex_);
  while (pools_.contains(next_pool_)) ++next_pool_;
  pools_[next_pool_] = std::move(pool);
  return next_pool_++;
}

void device_core::remove_pool(std::uint32_t number) {
  const std::lock_guard lock(mutex_);
  pools_.erase(number);
}

// ---- Polling ----

std::size_t device_core::poll() {
  if (refuses()) return 0;
  const std::unique_lock lock(poll_mutex_, std::try_to_lock);
  return lock.owns_lock() ? poll_locked() : 0;
}

std::size_t device_core::poll_in_turn() {
  const std::lock_guard lock(poll_mutex_);
  return poll_locked();
}

// What others complete meanwhile shall not keep the caller here.
void device_core::poll_all() {
  for (std::size_t left = queue_.capacity(); left != 0;) {
    const std::size_t count = poll_in_turn();
    if (count == 0) return;
    left -= std::min(left, count);
  }
}

// Handlers are submitted under the lock, so that they are in the order of the completions.
std::size_t device_core::poll_locked() {
  if (over_) return 0;
  std::array<verbs::Completion, 32> completions;
  const std::uint64_t to_remove = room_to_remove_.load();
  const std::size_t count = queue_.poll(completions);
  if (to_remove != 0 && count < completions.size()) forget_room(to_remove);
  for (std::size_t i = 0; i < count; ++i) pass_on(completions[i]);
  return count;
}

void device_core::pass_on(const verbs::Completion& completion) {
  if (!pool_wr_id::is_in(completion.wr_id)) return connection_core::on_completion(completion);
  const auto id = pool_wr_id::from(completion.wr_id);
  std::shared_ptr<pool_core> pool;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = pools_.find(id.pool); at != pools_.end()) pool = at->second.lock();
  }
  if (pool) pool->on_completion(id.slot, completion);
}

std::size_t device_core::poll_for(std::chrono::nanoseconds duration) {
  if (refuses()) return 0;
  const auto deadline = clock::now() + std::min<std::chrono::nanoseconds>(duration, kLongestWait);
  for (;;) {
    const std::size_t count = poll();
    const auto now = clock::now();
    last_program_poll_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    if (count != 0 || now >= deadline) return count;
  }
}

bool device_core::is_polled_by_program() const {
  const clock::time_point last{clock::duration(last_program_poll_.load(std::memory_order_relaxed))};
  return clock::now() - last < kProgramPolls;
}

// ---- Turns ----

void device_core::begin_operation() {
  under_way_.fetch_add(1);
  phase expected = phase::idle;
  if (phase_.compare_exchange_strong(expected, phase::turn)) submit_turn();
}

// No thread has to be woken for what is over: the wait would keep the context's run() from
// returning.
void device_core::end_operation() {
  if (under_way_.fetch_sub(1) != 1 || phase_.load() != phase::watching) return;
  boost::asio::post(executor_, [self = shared_from_this()] {
    if (self->under_way_.load() == 0) self->stop_watching();
  });
}

void device_core::stop_watching() {
  const std::lock_guard lock(watch_mutex_);
  if (descriptor_ && phase_.load() == phase::watching) descriptor_->cancel();
}

void device_core::submit_turn() {
  boost::asio::post(executor_, [self = shared_from_this()] { self->take_turn(); });
}

// Behind the handlers of what a turn has found comes another turn: they may have started more. One
// that throws (there is no memory) is the last, until another operation is started.
void device_core::take_turn() try {
  if (inherited()) return;
  if (poll() != 0) return submit_turn();
  if (under_way_.load() == 0) {
    rest();
  } else if (is_polled_by_program()) {
    stand_aside();
  } else {
    watch();
  }
} catch (...) {
  stop_sleeping();
  phase_.store(phase::idle);
  throw;
}

// The thread that starts an operation counts it first and looks at the phase second; here the phase
// is set first and the count looked at second. So one of the two sees the other.
void device_core::rest() {
  phase_.store(phase::idle);
  phase expected = phase::idle;
  if (under_way_.load() != 0 && phase_.compare_exchange_strong(expected, phase::turn)) {
    submit_turn();
  }
}

void device_core::watch() {
  const bool look_again = queue_.begin_wait();
  sleeping_.store(true);
  if (look_again && poll_in_turn() != 0) {
    stop_sleeping();
    return submit_turn();
  }
  fall_asleep();
}

void device_core::fall_asleep() {
  const std::lock_guard lock(watch_mutex_);
  if (!descriptor_) return stop_sleeping();
  phase_.store(phase::watching);
  if (under_way_.load() == 0) {  // the last has ended in another thread's poll
    stop_sleeping();
    return rest();
  }
  if (!descriptor_->is_open()) descriptor_->assign(queue_.wait_descriptor());
  descriptor_->async_wait(boost::asio::posix::descriptor_base::wait_read,
                          [self = shared_from_this()](const error_code& /*cancelled*/) {
                            self->stop_sleeping();
                            self->phase_.store(phase::turn);
                            self->take_turn();
                          });
}

void device_core::stop_sleeping() {
  if (sleeping_.exchange(false)) queue_.end_wait();
}

// A descriptor that is watched makes the system work for each packet, for nothing while a thread
// polls.
void device_core::stand_aside() {
  const std::lock_guard lock(watch_mutex_);
  if (!timer_) return;
  if (descriptor_->is_open()) descriptor_->release();
  phase_.store(phase::standing_aside);
  timer_->expires_after(kProgramPolls);
  timer_->async_wait([self = shared_from_this()](const error_code& /*cancelled*/) {
    self->phase_.store(phase::turn);
    self->take_turn();
  });
}

// ---- The end of the execution context ----

std::vector<std::shared_ptr<dependent>> device_core::living_dependents() {
  std::vector<std::shared_ptr<dependent>> living;
  const std::lock_guard lock(mutex_);
  for (const auto& [one, link] : dependents_) {
    if (auto alive = link.lock()) living.push_back(std::move(alive));
  }
  return living;
}

void device_core::shut_down() {
  {
    const std::lock_guard lock(poll_mutex_);
    over_ = true;
  }
  const auto dependents = living_dependents();
  for (const auto& one : dependents) one->shut_down();
  // The device's threads may be about to submit to this context what has ended just before.
  for (const auto& one : dependents) one->await_submissions();
  leave_context();
}

}  // namespace iwarp::asio::detail

namespace iwarp::asio {

device::device(any_io_executor executor, const std::string& name)
    : device(std::move(executor), detail::value_or_throw(verbs::Device::open(name))) {}

device::device(any_io_executor executor, verbs::Device opened)
    : core_(detail::make_shared_here<detail::device_core>(std::move(executor), std::move(opened))) {
  core_->attach();
}

device::~device() = default;
device::device(device&&) noexcept = default;
device& device::operator=(device&&) noexcept = default;

any_io_executor device::get_executor() const { return core_->executor(); }
const verbs::DeviceAttributes& device::attributes() const { return core_->device().attributes(); }
std::size_t device::poll() { return core_->poll(); }
std::size_t device::poll_for(std::chrono::nanoseconds duration) {
  return core_->poll_for(duration);
}
verbs::Device& device::native_handle() { return core_->device(); }

}  // namespace iwarp::asio
