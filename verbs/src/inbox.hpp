#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/fair_share.hpp"
#include "iwarp/verbs/listener.hpp"
#include "patient_wait.hpp"

namespace iwarp::verbs {

/// Requests that wait for Listener::next(): up to a bound, beyond which the latest is rejected,
/// of the network with a large share of them if there is one (FairShare). One whose peer has gone
/// is dropped.
class Listener::Inbox {
 public:
  using Request = std::unique_ptr<provider::IncomingConnection>;

  explicit Inbox(std::size_t most) : most_(most) {}

  /// Whether it waits now; otherwise it has been rejected.
  bool add(Request request) {
    Requests gone;  // destroyed, and so rejected, without the lock
    bool waits = false;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() >= most_) take_withdrawn(gone);
      const std::uint64_t number = next_++;
      const auto peer = request->info().remote.address();
      waiting_.emplace(number, std::move(request));
      shares_.add(number, peer);
      if (waiting_.size() > most_) take(*shares_.turned_away(), gone);
      waits = waiting_.contains(number);
    }
    if (waits) changed_.notify_one();
    return waits;
  }

  Request next(std::chrono::milliseconds timeout) {
    if (origin_.refuses()) return nullptr;
    Requests gone, taken;
    std::unique_lock lock(mutex_);
    const auto any = [&] {
      while (!waiting_.empty() && waiting_.begin()->second->withdrawn()) {
        take(waiting_.begin()->first, gone);
      }
      return !waiting_.empty();
    };
    const bool found =
        wait_patiently(timeout, [&](auto step) { return changed_.wait_for(lock, step, any); });
    if (!found) return nullptr;
    take(waiting_.begin()->first, taken);
    return std::move(taken.begin()->second);
  }

 private:
  using Requests = std::map<std::uint64_t, Request>;  // in the order of their coming

  void take(std::uint64_t which, Requests& into) {
    shares_.remove(which);
    into.insert(waiting_.extract(which));
  }
  void take_withdrawn(Requests& into) {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      const auto one = at++;
      if (one->second->withdrawn()) take(one->first, into);
    }
  }

  const process::Origin origin_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Requests waiting_;
  FairShare<std::uint64_t> shares_;
  std::uint64_t next_ = 0;
};

}  // namespace iwarp::verbs
