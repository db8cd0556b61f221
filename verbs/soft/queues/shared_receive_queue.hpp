#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/rdmap/receiver.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/memory_registry.hpp"
#include "soft/queues/places.hpp"
#include "soft/services.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

class SharedReceives;

/// Receives that many queue pairs take from, in the order they were posted. A receive is taken at
/// the first segment of a message and belongs to that message until it is complete. Thread-safe.
///
/// So that no peer can take everything (RFC 5042 §6.4.3.1), a queue pair holds at most its share of
/// receives that the program has not replaced: each receive that is posted counts as the
/// replacement of the one that was taken longest ago.
class SoftSrq final : public provider::Srq {
 public:
  SoftSrq(std::shared_ptr<const Services> services, std::shared_ptr<SoftPd> pd,
          const provider::SrqOptions& options, std::uint32_t number);

  Result<void, PostError> post_receive(std::span<const RecvWr> requests) override;
  Outcome<void> arm_limit(std::uint32_t limit) override;
  [[nodiscard]] std::uint32_t limit() const override;
  [[nodiscard]] std::uint32_t number() const override { return number_; }
  [[nodiscard]] const std::shared_ptr<SoftPd>& pd() const { return pd_; }
  /// Those of its receives, also of the ones that have been taken.
  [[nodiscard]] Places& places() { return places_; }
  /// Whether it is of the process that this one was forked from.
  [[nodiscard]] bool inherited() const { return origin_.inherited(); }

 private:
  friend class SharedReceives;
  struct Entry {
    std::uint64_t cookie = 0;
    std::vector<ddp::Sge> sges;
    std::uint64_t length = 0;
  };

  // By SharedReceives: the entry, which stays in place until it is given back; null if there is
  // none, or if the taker has its share.
  Entry* take(const SharedReceives& taker);
  void give_back(Entry* entry);
  void forget(const SharedReceives& taker);
  [[nodiscard]] std::errc check(const RecvWr& request) const;
  void replace_oldest() IWARP_REQUIRES(lock_);
  void report_limit();

  const std::shared_ptr<const Services> services_;
  const std::shared_ptr<SoftPd> pd_;
  const provider::SrqOptions options_;
  const std::uint32_t number_;
  const process::Origin origin_;

  Places places_;  // taken under lock_

  mutable SpinLock lock_;
  std::vector<Entry> entries_ IWARP_GUARDED_BY(lock_);
  std::vector<Entry*> vacant_ IWARP_GUARDED_BY(lock_);
  std::deque<Entry*> posted_ IWARP_GUARDED_BY(lock_);
  std::uint32_t limit_ IWARP_GUARDED_BY(lock_) = 0;
  std::deque<const SharedReceives*> taken_
      IWARP_GUARDED_BY(lock_);  // by which queue pair, the longest ago first
  std::unordered_map<const SharedReceives*, std::uint32_t> held_
      IWARP_GUARDED_BY(lock_);  // how often each is in taken_
};

/// What one queue pair takes from a shared receive queue: the receive half's.
class SharedReceives final : public rdmap::ReceiveSource {
 public:
  /// `queue` may be null: nothing to take.
  explicit SharedReceives(std::shared_ptr<SoftSrq> queue) : queue_(std::move(queue)) {}
  ~SharedReceives() override;
  SharedReceives(const SharedReceives&) = delete;
  SharedReceives& operator=(const SharedReceives&) = delete;

  /// Gives back the entry of the one taken before.
  std::optional<rdmap::ReceiveBuffer> take() override;
  /// The entry is free before the program hears of the message.
  void finish() override { give_back(); }
  /// Gives back the entry of the one taken last, if that was not done.
  void give_back();

 private:
  const std::shared_ptr<SoftSrq> queue_;
  SoftSrq::Entry* current_ = nullptr;
};

}  // namespace iwarp::verbs::soft
