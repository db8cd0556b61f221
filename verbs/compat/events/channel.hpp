#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/context.hpp"
#include "core/uses.hpp"

/// Completion channels of the C interface: where threads wait for the events of many queues.
namespace iwarp::compat {

struct Cq;

/// The queues of a channel. Its descriptor is an epoll set of their event descriptors: readable
/// exactly while one of them has an event.
class CqEvents {
 public:
  CqEvents();
  CqEvents(const CqEvents&) = delete;
  CqEvents& operator=(const CqEvents&) = delete;
  ~CqEvents();

  [[nodiscard]] int descriptor() const { return epoll_; }
  /// Begins to watch a queue, which counts the events that are taken from it.
  void add(Cq& cq);
  /// From then on none of its events is taken.
  void remove(const Cq& cq);
  /// Takes an event of any queue; waits unless the descriptor is non-blocking. A cancellation
  /// point. 0, or an errno.
  int take(Cq*& from);

 private:
  bool take_from(std::uint64_t number, Cq*& from);
  bool take_from_only(Cq*& from, bool& looked);
  static bool give(Cq& cq, Cq*& to);

  const int epoll_;
  std::mutex mutex_;
  std::map<std::uint64_t, Cq*> queues_;  // by the numbers that the epoll set knows
  std::uint64_t next_ = 0;
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
