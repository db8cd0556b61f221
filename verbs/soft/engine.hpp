#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "iwarp/tcp_offload/readiness.hpp"
#include "soft/failure.hpp"
#include "soft/half_fpdus.hpp"
#include "soft/host.hpp"
#include "soft/running_clock.hpp"
#include "soft/sleeper.hpp"

namespace iwarp::verbs::soft {

/// The thread that serves the sockets nobody polls: one-sided traffic, sleepers, closing streams,
/// time-outs. It stands aside for pollers: a socket whose completion queue is being polled is left
/// to the poller, without being watched, until a tick of about a millisecond finds that the polling
/// has stopped. A poller that sleeps at its completion queue is left alone, as long as it wakes up
/// for what comes. While all of them sleep, and nothing comes, there are no ticks. What is for a
/// queue pair that nobody polls for is lent to a thread that polls another queue in vain, if there
/// is one: it has the processor anyway, which the engine would have to share with it. Every member
/// may be called from any thread; none calls back.
class Engine {
 public:
  /// Starts its thread. Throws std::system_error (no descriptor, no thread), std::bad_alloc.
  Engine();
  /// Sees closing streams off, as long as something moves, then ends.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::error_code add(SoftQp& qp);
  void remove(SoftQp& qp);
  void want_write(SoftQp& qp);
  void look_again(SoftQp& qp);
  void want_read(SoftQp& qp);
  void stop_lease(SoftCq& cq);
  /// The last thread that slept at a completion queue has woken up.
  void waiter_left();
  /// Serves sockets that were lent to whoever polls.
  void help();
  void see_off(ClosingStream closing);
  /// Accounts for `octets` more (or, negative, fewer) of half-received FPDUs, and makes room for
  /// them where it is short.
  void account_tail(std::ptrdiff_t octets);
  [[nodiscard]] bool tail_room() const { return !tails_.is_short(); }
  /// Closes each queue pair that is left, and returns when what had completed has arrived, or
  /// nothing moves any more: for the end of the process. Takes no lock, and gives up if the
  /// engine's thread does not run: the caller may have been interrupted anywhere.
  void finish();
  /// The running time, which deadlines are counted in.
  [[nodiscard]] std::chrono::steady_clock::time_point running() {
    return running_clock_.look(Clock::now());
  }
  [[nodiscard]] bool is_own_thread() const {
    return std::this_thread::get_id() == thread_.get_id();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Token = std::uint64_t;

  /// How long a poller may be silent before the engine takes its sockets back.
  static constexpr std::chrono::milliseconds kLeaseTick{1};

  struct Entry {
    std::weak_ptr<SoftQp> qp;
    int descriptor = -1;
    std::uint32_t seen_sign = 0;
    std::uint32_t seen_helps = 0;
    bool parked = false;  // left to a poller
    bool lent = false;    // to a thread that helps and polls for something else
    Sleeper sleeper{};    // the poller, if it sleeps

    [[nodiscard]] bool wants_reads(const SoftQp& of) const;
  };

  void run();
  /// On the engine's thread: what one step throws keeps no other from being taken. Connections see
  /// to what goes wrong in theirs; for a lack of memory for the engine's own lists there is a next
  /// time.
  template <typename Step>
  void attempt(Step step) {
    try {
      step();
    } catch (const std::exception& thrown) {
      log_failure("the engine cannot take a step", thrown);
      failed_ = true;
    }
  }
  void serve_any(const tcp_offload::Ready& ready);
  [[nodiscard]] bool take_step();
  [[nodiscard]] std::optional<std::chrono::milliseconds> time_to_wait();
  void serve(const tcp_offload::Ready& ready);
  bool leave_to_poller(Token token, Entry& entry, const SoftQp& qp);
  void call_poller(Entry& entry);
  void rearm(const SoftQp& qp);
  void watch(Token token, const Entry& entry, tcp_offload::Interest interest);
  [[nodiscard]] bool tick_is_due(Clock::time_point now);
  void tick();
  [[nodiscard]] std::vector<std::shared_ptr<SoftQp>> owners_of(const std::vector<Token>& tokens);
  void look_at_waiting();
  [[nodiscard]] bool all_sleep_on();
  void rest_if_all_sleep();
  bool resume_ticks();
  [[nodiscard]] static std::uint32_t sign_of(const SoftQp& qp);
  [[nodiscard]] bool has_poller(Entry& entry, const SoftQp& qp);
  void take_back(Token token, Entry& entry);
  [[nodiscard]] bool abandoned(const SoftQp& qp);
  [[nodiscard]] std::vector<std::shared_ptr<SoftQp>> all_owners();
  void look_at_deadlines();
  void look_at_tails(Clock::time_point now);
  void unpark(const std::shared_ptr<SoftQp>& qp);
  void take_in_closing();
  void take_in(ClosingStream stream);
  void serve_closing(Token token);
  bool turn_closing(StreamCloser& closer);
  void look_at_closing();
  void finish_step();
  void close_all();
  [[nodiscard]] bool waits_at_exit(std::chrono::steady_clock::time_point now);

  tcp_offload::ReadinessSet sockets_;
  tcp_offload::EventCount wake_;
  std::mutex mutex_;
  std::unordered_map<Token, Entry> entries_;
  std::vector<Token> parked_;
  std::vector<Token> waiting_;  // for what no socket tells of
  std::vector<Token> lent_;
  std::atomic<std::size_t> lent_count_{0};
  std::atomic<std::uint32_t> helps_{0};
  std::mutex helping_;
  std::vector<std::shared_ptr<SoftQp>> helped_;  // under helping_; empty between two helps
  std::vector<ClosingStream> arriving_;
  TailLedger tails_;
  Clock::time_point next_tick_{};
  std::atomic<bool> resting_{false};  // no ticks until one of them has left
  std::atomic<bool> stopping_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> finished_{false};
  std::atomic<std::uint32_t> finish_steps_{0};

  // The engine thread's own.
  std::unordered_map<Token, StreamCloser> closing_;
  Token next_closing_ = 1;
  bool failed_ = false;  // a step, in this turn
  Clock::time_point next_deadlines_{};
  Clock::time_point next_tails_{};
  Clock::time_point delivered_since_{};  // at the end, in running time
  std::vector<std::weak_ptr<SoftQp>> last_;

  RunningClock running_clock_;
  std::thread thread_;
};

}  // namespace iwarp::verbs::soft
