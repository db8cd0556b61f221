#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "iwarp/verbs/verbs.hpp"
#include "throw_error.hpp"

namespace iwarp::asio::detail {

/// Places of one size in registered memory, for requests whose own memory is not: of what atomics
/// fetch, and of messages that are copied.
class registered_places {
 public:
  registered_places(verbs::ProtectionDomain& pd, std::uint32_t count, std::size_t size)
      : size_(size),
        memory_(count * size),
        free_(count),
        region_(value_or_throw(pd.register_memory(memory_, verbs::Access::kLocalWrite))) {
    std::iota(free_.begin(), free_.end(), 0U);
  }

  /// Precondition: fewer than `count` are taken.
  std::uint32_t take() {
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(std::uint32_t place) { free_.push_back(place); }
  [[nodiscard]] std::byte* at(std::uint32_t place) { return memory_.data() + place * size_; }
  /// The first `length` octets of a place.
  [[nodiscard]] verbs::Sge sge(std::uint32_t place, std::uint32_t length) const {
    return region_.sge(place * size_, length);
  }

 private:
  const std::size_t size_;
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> free_;
  verbs::MemoryRegion region_;
};

}  // namespace iwarp::asio::detail
