#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "adapter.hpp"
#include "cm_event.hpp"
#include "hidden_descriptor.hpp"
#include "native_object.hpp"

namespace iwarp::rnic {

/// The thread on which connections begin and end: it waits for librdmacm, for the adapter's
/// asynchronous events, and for the time. Nothing of a message passes through it. A call that finds
/// no memory is made again and again until it does. Any thread.
class CmLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Task = std::function<void()>;
  /// Takes note of an asynchronous event, and says what is to be done of it once it has been
  /// acknowledged, which the end of the object that it is about waits for.
  using AsyncTask = std::function<Task(const ibv_async_event&)>;

  /// With its thread running. The last owner may be that thread itself. Errors: the system's.
  static verbs::Outcome<std::shared_ptr<CmLoop>> start(std::shared_ptr<Adapter> adapter,
                                                       AsyncTask on_async);
  ~CmLoop();
  CmLoop(const CmLoop&) = delete;
  CmLoop& operator=(const CmLoop&) = delete;

  /// Makes an identifier whose events go to `target`, as long as that lives. Errors: the system's.
  verbs::Outcome<CmId> make_id(const std::weak_ptr<CmTarget>& target);
  /// The same of an identifier that came with an event.
  void watch(const CmId& id, std::weak_ptr<CmTarget> target);
  /// No call of on_cm_event() for it begins any more.
  void forget(const CmId& id);
  /// The same; on a thread that is not the loop's a call that is running is waited for.
  void forget_and_wait(const CmId& id);
  /// Calls it on the thread, in the order of the calls.
  void post(Task task) { post_at(Clock::time_point::min(), std::move(task)); }
  /// The same when the time has come.
  void post_at(Clock::time_point at, Task task);
  /// Calls it on a thread of its own, or here if there is none: what may wait for a peer inside of
  /// the kernel.
  void run_apart(Task task);

 private:
  CmLoop(std::shared_ptr<Adapter> adapter, NativeCmChannel channel, HiddenDescriptor wake,
         AsyncTask on_async);
  static void stop(std::shared_ptr<CmLoop> last);
  [[nodiscard]] bool on_own_thread() const;
  void run();
  bool take_turn();
  void wait(Clock::time_point until);
  void take_cm_events();
  void take(rdma_cm_event* event);
  void dispatch(rdma_cm_id* of, CmEvent event);
  void take_async_events();
  Clock::time_point run_due();
  template <typename Call>
  void call_patiently(const Call& call);
  void wake();

  const std::shared_ptr<Adapter> adapter_;
  NativeCmChannel channel_;
  const HiddenDescriptor wake_;
  const AsyncTask on_async_;
  const process::Origin origin_;
  process::ClosedInChildren channel_in_children_;
  bool channel_over_ = false, async_over_ = false;  // its thread's
  std::mutex mutex_;
  std::condition_variable idle_;
  bool stops_ = false;
  rdma_cm_id* dispatched_ = nullptr;  // whose target is being called
  std::map<rdma_cm_id*, std::weak_ptr<CmTarget>> targets_;
  std::multimap<Clock::time_point, Task> tasks_;
  std::atomic<std::thread::id> own_{};
  std::thread thread_;
};

}  // namespace iwarp::rnic
