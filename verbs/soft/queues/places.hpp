#pragma once

#include <atomic>
#include <cstdint>

namespace iwarp::verbs::soft {

/// What the place of a work request belongs to.
class PlaceOwner {
 public:
  PlaceOwner() = default;
  PlaceOwner(const PlaceOwner&) = delete;
  PlaceOwner& operator=(const PlaceOwner&) = delete;
  virtual ~PlaceOwner() = default;

  /// Of so many requests, those that completed first. Any thread, also under the lock of a
  /// completion queue.
  virtual void give_back(std::uint32_t count) = 0;
};

/// The places of a work queue. A work request has one from its posting until its completion is
/// polled, or, if it completes without one, until it is done: max_send_wr and max_recv_wr of
/// ibv_create_qp(3) bound what is outstanding, and a program may post until ENOMEM before it polls.
/// A completion queue as deep as its queues together cannot overrun.
class Places : public PlaceOwner {
 public:
  explicit Places(std::uint32_t limit) : limit_(limit) {}

  /// How many are free. By the thread that posts.
  [[nodiscard]] std::uint32_t room() const {
    return limit_ - (taken_ - given_back_.load(std::memory_order_acquire));
  }
  /// For a request that is posted. One thread at a time. Precondition: room() != 0.
  void take() { ++taken_; }
  void give_back(std::uint32_t count) override {
    given_back_.fetch_add(count, std::memory_order_release);
  }

 private:
  const std::uint32_t limit_;
  std::uint32_t taken_ = 0;  // both count up freely modulo 2^32
  std::atomic<std::uint32_t> given_back_{0};
};

}  // namespace iwarp::verbs::soft
