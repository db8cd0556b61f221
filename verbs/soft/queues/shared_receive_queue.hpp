#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "iwarp/base/ring.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/rdmap/receiver.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/memory_registry.hpp"
#include "soft/queues/places.hpp"
#include "soft/queues/shares.hpp"
#include "soft/services.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

class SharedReceives;

/// Receives that many queue pairs take from, in the order they were posted. A receive is taken at
/// the first segment of a message and belongs to that message until it is complete. Thread-safe.
///
/// So that no peer can take everything (RFC 5042 §6.4.3.1), a queue pair holds at most its share of
/// receives that the program has not posted anew (Shares).
class SoftSrq final : public provider::Srq {
 public:
  SoftSrq(std::shared_ptr<const Services> services, std::shared_ptr<SoftPd> pd,
          const provider::SrqOptions& options, std::uint32_t number);

  Result<void, PostError> post_receive(std::span<const RecvWr> requests) override;
  Outcome<void> arm_limit(std::uint32_t limit) override;
  [[nodiscard]] std::uint32_t limit() const override;
  [[nodiscard]] std::uint32_t number() const override { return number_; }
  [[nodiscard]] const std::shared_ptr<SoftPd>& pd() const { return pd_; }
  /// Whether it is of the process that this one was forked from.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }

 private:
  friend class SharedReceives;
  struct Entry {
    std::uint64_t cookie = 0;
    std::vector<ddp::Sge> sges;
    std::uint64_t length = 0;
  };

  // By SharedReceives: the entry, which stays as it is until it is vacated; null if there is none,
  // or if the taker has its share.
  Entry* take(Shares::Taker& taker);
  void vacate(Entry* entry);
  void give_back_places(Shares::Taker& taker, std::uint32_t count);
  void forget(Shares::Taker& taker);

  [[nodiscard]] std::optional<PostError> check(const RecvWr& request, std::size_t index) const;
  [[nodiscard]] std::uint32_t count() const IWARP_REQUIRES(lock_) { return end_ - begin_; }
  void report_limit();

  const std::shared_ptr<const Services> services_;
  const std::shared_ptr<SoftPd> pd_;
  const provider::SrqOptions options_;
  const std::uint32_t number_;
  const process::Origin origin_;

  Places places_;  // of all that is posted or taken; themselves taken under lock_

  mutable SpinLock lock_;
  std::vector<Entry> entries_ IWARP_GUARDED_BY(lock_);
  std::vector<Entry*> vacant_ IWARP_GUARDED_BY(lock_);
  Ring<Entry*> posted_ IWARP_GUARDED_BY(lock_);  // from begin_ to end_
  std::uint32_t begin_ IWARP_GUARDED_BY(lock_) = 0;
  std::uint32_t end_ IWARP_GUARDED_BY(lock_) = 0;
  std::uint32_t limit_ IWARP_GUARDED_BY(lock_) = 0;
  std::optional<Shares> shares_ IWARP_GUARDED_BY(lock_);  // if there is a share
};

/// What one queue pair takes from a shared receive queue: the receive half's.
class SharedReceives final : public rdmap::ReceiveSource, private PlaceOwner {
 public:
  /// `queue` may be null: nothing to take.
  explicit SharedReceives(std::shared_ptr<SoftSrq> queue) : queue_(std::move(queue)) {}
  ~SharedReceives() override;
  SharedReceives(const SharedReceives&) = delete;
  SharedReceives& operator=(const SharedReceives&) = delete;

  /// Vacates the entry of the one taken before.
  std::optional<rdmap::ReceiveBuffer> take() override;
  /// The entry is free before the program hears of the message.
  void finish() override { vacate(); }
  /// Vacates the entry of the one taken last, if that was not done.
  void vacate();
  /// Of what it takes. Precondition: there is a queue.
  [[nodiscard]] PlaceOwner& places();

 private:
  void give_back(std::uint32_t count) override;

  const std::shared_ptr<SoftSrq> queue_;
  SoftSrq::Entry* current_ = nullptr;
  Shares::Taker taker_;  // guarded by the queue's lock
};

}  // namespace iwarp::verbs::soft
