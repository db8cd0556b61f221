#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "iwarp/rdmap/receiver.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/qp/init.hpp"
#include "soft/queues/places.hpp"
#include "soft/queues/receive_queue.hpp"
#include "soft/queues/shared_receive_queue.hpp"
#include "soft/spin_lock.hpp"

namespace iwarp::verbs::soft {

/// The receives of a queue pair: its own, or what it takes of a shared receive queue. Any thread
/// posts; the receive half takes.
class ReceiveWork {
 public:
  explicit ReceiveWork(const SoftQpInit& init);

  /// Of several those before the first that is refused are posted.
  Result<void, PostError> post(std::span<const RecvWr> requests);
  [[nodiscard]] bool are_shared() const { return srq_ != nullptr; }

  /// What the connection's core takes receives from.
  [[nodiscard]] rdmap::ReceiveSource& source();
  /// For completions.
  [[nodiscard]] PlaceOwner& places();
  /// Whether each receive of its own has been taken.
  [[nodiscard]] bool none_posted() const { return own_.empty(); }

  // The receive half:
  /// The oldest of its own.
  [[nodiscard]] std::optional<rdmap::ReceiveBuffer> take_own() { return own_.take(); }
  /// The shared one that was taken last is free again.
  void vacate_shared() { shared_.vacate(); }

 private:
  const std::uint32_t max_sge_;
  const std::shared_ptr<SoftSrq> srq_;
  SharedReceives shared_;  // in place of own_, if there is an SRQ
  SpinLock lock_;
  Places own_places_;  // taken under lock_
  ReceiveQueue own_;   // posted to under lock_
};

}  // namespace iwarp::verbs::soft
