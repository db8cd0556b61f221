#pragma once

#include <atomic>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "dependent.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/verbs/origin.hpp"
#include "registrations.hpp"

namespace iwarp::asio::detail {

class connection_core;
class device_core;
class pool_core;

/// The devices of one execution context, for its end. Outlives the context. Thread-safe.
class device_list {
 public:
  void add(device_core& device, std::weak_ptr<device_core> link);
  void remove(device_core& device);
  /// The context ends: those that live, to be shut down. Of the others nothing is left in it.
  [[nodiscard]] std::vector<std::shared_ptr<device_core>> end();
  /// The program tells of a fork (boost::asio::execution_context::notify_fork()).
  void notify_fork(boost::asio::execution_context::fork_event event);

 private:
  verbs::Origin origin_;  // of the list: a child that was told of has made it its own
  std::mutex mutex_;
  std::unordered_map<device_core*, std::weak_ptr<device_core>> devices_;
  std::vector<std::shared_ptr<device_core>> forking_;  // from one event to the other
};

/// Where the completions of a device come from, and how the executor learns of them. While
/// operations are under way exactly one of these is going on: a turn that polls is queued on the
/// executor; or the context sleeps at the queue, whose descriptor it watches; or, as the
/// program polls by itself, a timer will look whether it still does.
class device_core : public std::enable_shared_from_this<device_core> {
 public:
  device_core(any_io_executor executor, verbs::Device device);
  ~device_core();
  device_core(const device_core&) = delete;
  device_core& operator=(const device_core&) = delete;
  /// The other half of the constructor: tells the execution context, which will say when it ends.
  void attach();

  [[nodiscard]] const any_io_executor& executor() const { return executor_; }
  [[nodiscard]] verbs::Device& device() { return device_; }
  [[nodiscard]] verbs::CompletionQueue& queue() { return queue_; }
  [[nodiscard]] registrations& known() { return registrations_; }

  /// Room for so many more completions, or fewer. Throws boost::system::system_error.
  void add_room(std::uint32_t entries);
  void remove_room(std::uint32_t entries);
  /// The objects that are told when the execution context ends.
  void add(dependent& one, std::weak_ptr<dependent> link);
  void remove(dependent& one);
  /// The connection that gets the messages that a shared receive queue took for a queue pair.
  void add_connection(std::uint32_t qp_number, std::weak_ptr<connection_core> connection);
  void remove_connection(std::uint32_t qp_number);
  [[nodiscard]] std::shared_ptr<connection_core> connection_of(std::uint32_t qp_number);
  /// A number for a pool, by which completions name it.
  std::uint32_t add_pool(std::weak_ptr<pool_core> pool);
  void remove_pool(std::uint32_t number);

  /// One more operation whose end the completion queue will tell, or one less.
  void begin_operation();
  void end_operation();

  /// Takes what the queue has, unless another thread is at it. Returns how many completions.
  std::size_t poll();
  /// The same, after the other thread: then what it took has been passed on too.
  std::size_t poll_in_turn();
  /// Passes on all that is in the queue now.
  void poll_all();
  std::size_t poll_for(std::chrono::nanoseconds duration);

  /// The execution context is being destroyed: no handler will run any more.
  void shut_down();
  /// Gives up what it has in the context.
  void leave_context();

  /// Whether it is that of the process that this one was forked from. All that was made of it is
  /// then, too: it is not destroyed, and nothing of it is used or locked.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }
  /// The same, for a call that fails because of it.
  [[nodiscard]] bool refuses() const { return origin_.refuses(); }
  // The three events of a fork, see device_fork.cpp.
  void prepare_fork();
  void go_on_in_parent();
  void end_in_child();

 private:
  enum class phase { idle, turn, watching, standing_aside };
  using clock = std::chrono::steady_clock;

  std::size_t poll_locked();
  void pass_on(const verbs::Completion& completion);
  void forget_room(std::uint64_t entries);
  void submit_turn();
  void take_turn();
  void rest();
  void watch();
  void fall_asleep();
  void stop_sleeping();
  void stand_aside();
  void stop_watching();
  [[nodiscard]] bool is_polled_by_program() const;

  [[nodiscard]] std::vector<std::shared_ptr<dependent>> living_dependents();

  const verbs::Origin origin_;
  const any_io_executor executor_;
  std::shared_ptr<device_list> siblings_;
  verbs::Device device_;
  verbs::CompletionQueue queue_;
  registrations registrations_;
  std::mutex poll_mutex_;  // what follows, and the order of handlers
  bool over_ = false;      // what completions name is gone

  std::mutex mutex_;  // what follows
  std::uint64_t room_wanted_ = 0;
  std::uint32_t next_pool_ = 0;
  std::unordered_map<std::uint32_t, std::weak_ptr<connection_core>> connections_;
  std::unordered_map<std::uint32_t, std::weak_ptr<pool_core>> pools_;
  std::unordered_map<dependent*, std::weak_ptr<dependent>> dependents_;

  std::atomic<std::uint64_t> under_way_{0};
  std::atomic<phase> phase_{phase::idle};
  std::atomic<bool> sleeping_{false};  // between begin_wait() and end_wait() of the queue
  std::atomic<std::uint64_t> room_to_remove_{0};  // once what is in the queue has been taken
  std::atomic<clock::rep> last_program_poll_{0};

  std::vector<std::shared_ptr<dependent>> held_;  // while the program forks

  std::mutex watch_mutex_;  // what follows
  std::optional<boost::asio::posix::stream_descriptor> descriptor_;
  std::optional<boost::asio::steady_timer> timer_;
};

/// How completions of operations and of a pool's receives are told apart: an operation's wr_id is
/// its address, which is even.
struct pool_wr_id {
  std::uint32_t pool = 0;
  std::uint32_t slot = 0;  ///< Below 2^31.

  [[nodiscard]] std::uint64_t to_wr_id() const {
    return std::uint64_t{pool} << 32U | std::uint64_t{slot} << 1U | 1U;
  }
  [[nodiscard]] static bool is_in(std::uint64_t wr_id) { return (wr_id & 1U) != 0; }
  [[nodiscard]] static pool_wr_id from(std::uint64_t wr_id) {
    return {static_cast<std::uint32_t>(wr_id >> 32U),
            static_cast<std::uint32_t>(wr_id & 0xFFFFFFFFU) >> 1U};
  }
};

}  // namespace iwarp::asio::detail
