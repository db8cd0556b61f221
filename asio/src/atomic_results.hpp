#pragma once

#include <numeric>
#include <vector>

#include "iwarp/verbs/verbs.hpp"
#include "throw_error.hpp"

namespace iwarp::asio::detail {

/// Places for what atomics fetch: the device stores eight octets into registered memory.
class atomic_results {
 public:
  atomic_results(verbs::ProtectionDomain& pd, std::uint32_t count)
      : values_(count),
        free_(count),
        region_(value_or_throw(pd.register_memory(std::as_writable_bytes(std::span(values_)),
                                                  verbs::Access::kLocalWrite))) {
    std::iota(free_.begin(), free_.end(), 0U);
  }

  /// Precondition: fewer than `count` are taken.
  std::uint32_t take() {
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(std::uint32_t place) { free_.push_back(place); }
  [[nodiscard]] std::uint64_t value(std::uint32_t place) const { return values_[place]; }
  [[nodiscard]] verbs::Sge sge(std::uint32_t place) const {
    return region_.sge(place * sizeof(std::uint64_t), sizeof(std::uint64_t));
  }

 private:
  std::vector<std::uint64_t> values_;
  std::vector<std::uint32_t> free_;
  verbs::MemoryRegion region_;
};

}  // namespace iwarp::asio::detail
