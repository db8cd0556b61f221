#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "iwarp/tcp_offload/readiness.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/host.hpp"
#include "soft/inherited.hpp"
#include "soft/places.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

/// A completion queue, and the lease of whoever polls it on the sockets behind it.
///
/// A poll that finds less than it asked for drives the sockets of the queue pairs attached here and
/// counts as a sign of life (`lease_sign`), and so does each time that a sleep is interrupted. The
/// engine leaves sockets to a queue whose sign moves. A poll that is satisfied from the ring is no
/// sign: a program may poll once per message and spin on memory in between.
class SoftCq final : public provider::Cq {
 public:
  SoftCq(std::shared_ptr<Host> host, std::uint32_t depth, std::uint32_t number);

  std::size_t poll(std::span<Completion> into) override;
  void arm(provider::Arm what) override;
  bool wait(std::chrono::milliseconds timeout) override;
  [[nodiscard]] int event_descriptor() override;
  bool take_event() override;
  [[nodiscard]] std::uint32_t capacity() const override;
  Outcome<void> resize(std::uint32_t depth) override;
  [[nodiscard]] std::uint32_t number() const override { return number_; }
  [[nodiscard]] int wait_descriptor() override;
  bool begin_wait() override;
  void end_wait() override;

  /// The most that a completion queue holds.
  static constexpr std::uint32_t kMaxDepth = 1U << 22U;

  /// Adds the completion of a request that has a place among `places`, which is given back when it
  /// is polled. False if the queue is full: it has overrun, and takes nothing any more.
  bool push(const Completion& completion, Places& places);
  /// Takes out what has come for a queue pair that is destroyed: a program may have freed what its
  /// completions name, and their places are about to go.
  void discard(std::uint32_t qp_number);

  /// Errors: the system's, if it refuses to watch the socket; the queue pair is attached all the
  /// same.
  [[nodiscard]] std::error_code attach(SoftQp& qp);
  /// Returns when no poller is inside `qp` on behalf of this queue.
  void detach(SoftQp& qp);
  /// Stops waiting on a socket that has ended.
  void forget_descriptor(int descriptor);
  /// Those who wait need not look at the socket of a queue pair that does not read, until it does.
  void set_reading(const SoftQp& qp, bool reads);

  /// Whether it is of the process that this one was forked from.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }

  // For the engine.
  [[nodiscard]] std::uint32_t lease_sign() const { return sign_.load(); }
  [[nodiscard]] bool has_waiter() const { return waiters_.load() != 0; }
  [[nodiscard]] bool armed() const { return armed_.load() != Armed::kNo; }
  /// Whether its queue pairs are few enough for a poll to look at each.
  [[nodiscard]] bool polls_all() const { return attached_count_.load() <= kPollAll; }

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };
  static constexpr std::size_t kPollAll = 16;

  struct Entry {
    Completion completion;
    Places* places = nullptr;
  };
  std::size_t pop(std::span<Completion> into);
  [[nodiscard]] bool empty() const { return count_.load() == 0; }
  void drive();
  void flush();
  std::size_t drive_ready(std::chrono::milliseconds timeout);
  void drive_all_ready();
  bool fires(const Completion& completion);
  void raise_event();
  void wake_waiter();
  void clear_wake();
  void drive_each();
  tcp_offload::ReadinessSet& sockets();
  tcp_offload::ReadinessSet* sockets_if_any();
  struct Unwatched;
  tcp_offload::ReadinessSet& make_sockets(std::vector<Unwatched>& unwatched);
  tcp_offload::EventCount& events();

  std::shared_ptr<Host> host_;
  const std::uint32_t number_;
  const Origin origin_;

  mutable SpinLock ring_lock_;
  std::vector<Entry> ring_;  // as long as the queue is deep
  std::uint32_t head_ = 0;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<bool> overrun_{false};  // for ever

  std::atomic<Armed> armed_{Armed::kNo};
  std::atomic<std::uint32_t> sign_{0};
  std::atomic<std::uint32_t> waiters_{0};

  std::mutex drive_mutex_;         // held while a poller drives; guards attached_
  std::vector<SoftQp*> attached_;  // by address
  std::atomic<std::size_t> attached_count_{0};

  std::mutex lazy_mutex_;
  std::unique_ptr<tcp_offload::ReadinessSet> sockets_owner_;  // once somebody waits, or many QPs
  std::atomic<tcp_offload::ReadinessSet*> sockets_{nullptr};
  std::unique_ptr<tcp_offload::EventCount> wake_;  // ends a wait() for completions made elsewhere
  std::atomic<bool> woken_{false};                 // it is raised
  std::unique_ptr<tcp_offload::EventCount> events_owner_;  // once somebody asks for its descriptor
  std::atomic<tcp_offload::EventCount*> events_{nullptr};
  std::size_t events_before_ = 0;  // that have come before there was one
};

}  // namespace iwarp::verbs::soft
