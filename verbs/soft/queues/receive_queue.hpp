#pragma once

#include <atomic>
#include <optional>

#include "iwarp/base/ring.hpp"
#include "iwarp/rdmap/receiver.hpp"

namespace iwarp::verbs::soft {

/// A ring of posted receives. One thread at a time posts, one at a time takes; the two may run at
/// once. The posting side sees to it that no more than `depth` are outstanding (Places).
class ReceiveQueue final : public rdmap::ReceiveSource {
 public:
  ReceiveQueue(std::uint32_t depth, std::uint32_t max_sges);

  // The posting side.
  [[nodiscard]] bool empty() const { return head_.load() == tail_.load(); }
  /// Room for the scatter list of the next receive.
  std::span<ddp::Sge> vacant_sges() { return sges_[tail_.load(std::memory_order_relaxed)]; }
  void append(std::uint64_t cookie, std::size_t sge_count);

  // The taking side.
  /// The list of the one taken before may be overwritten from now on.
  std::optional<rdmap::ReceiveBuffer> take() override;

 private:
  struct Entry {
    std::uint64_t cookie = 0;
    std::uint64_t length = 0;
    std::size_t sge_count = 0;
  };

  Ring<Entry> entries_;
  RingOfLists<ddp::Sge> sges_;
  std::uint32_t taken_ = 0;
  alignas(64) std::atomic<std::uint32_t> head_{0};  // those before it have been taken
  alignas(64) std::atomic<std::uint32_t> tail_{0};
};

}  // namespace iwarp::verbs::soft
