#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "core/context.hpp"
#include "core/uses.hpp"
#include "iwarp/process/descriptor.hpp"

/// Completion channels of the C interface: where threads wait for the events of many queues.
namespace iwarp::compat {

struct Cq;

/// The queues of a channel. Its descriptor is an epoll set of their event descriptors: readable
/// exactly while one of them has an event, but for one that a sleeping thread is about to take. A
/// thread that sleeps here alone reads the socket of a connection itself, which spares the engine's
/// waking up and its waking the thread.
class CqEvents {
 public:
  CqEvents();

  [[nodiscard]] int descriptor() const { return epoll_.get(); }
  /// Begins to watch a queue, which counts the events that are taken from it.
  void add(Cq& cq);
  /// From then on none of its events is taken.
  void remove(const Cq& cq);
  /// Takes an event of any queue; waits unless the descriptor is non-blocking. A cancellation
  /// point. 0, or an errno.
  int take(Cq*& from);

 private:
  class Sleep;
  struct Member {
    Cq* cq;
    bool in_sleep_set = false;
  };

  bool take_from(std::uint64_t number, Cq*& from);
  bool take_from_only(Cq*& from, bool& looked);
  bool take_any(Cq*& from);
  static bool give(Cq& cq, Cq*& to);
  int sleep(std::uint64_t& told, Cq*& from);
  std::optional<int> sleep_and_drive(Sleep& sleep, std::uint64_t& told, Cq*& from);
  [[nodiscard]] bool join_sleep_set(std::uint64_t number, Member& member);
  void leave_sleep_set(Member& member);

  const process::Descriptor epoll_;
  std::mutex mutex_;
  std::map<std::uint64_t, Member> queues_;  // by the numbers that the epoll sets know
  std::uint64_t next_ = 0;
  // What a thread that drives sleeps on: epoll_, and what each queue's driver wakes for.
  process::Descriptor sleep_set_;
  int sleepers_ = 0;
};

struct Channel {
  ibv_comp_channel shown{};
  ContextUse context;
  Uses uses;
  /// A thread that waits while the channel is destroyed keeps it, and waits on.
  std::shared_ptr<CqEvents> events = std::make_shared<CqEvents>();
};

inline Channel& channel_of(ibv_comp_channel* shown) { return *reinterpret_cast<Channel*>(shown); }

/// A queue among those of a channel, until this goes.
class CqWatch {
 public:
  CqWatch(std::shared_ptr<CqEvents> events, Cq& cq) : events_(std::move(events)), cq_(&cq) {
    events_->add(cq);
  }
  CqWatch(const CqWatch&) = delete;
  CqWatch& operator=(const CqWatch&) = delete;
  ~CqWatch() { events_->remove(*cq_); }

 private:
  std::shared_ptr<CqEvents> events_;
  Cq* cq_;
};

}  // namespace iwarp::compat
