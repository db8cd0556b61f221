#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs::soft {

/// Which Read or atomic ended the stream, if one did, and with what its completion is to say so.
/// Thread-safe.
class BlamedRead {
 public:
  /// In the place of what was blamed before. Any index is one that a Read can have.
  void blame(std::uint32_t index, Status status) {
    blamed_.store(kAny | static_cast<std::uint64_t>(status) << 32U | index);
  }
  /// Its status if it is the one.
  [[nodiscard]] std::optional<Status> status_of(std::uint32_t index) const {
    const std::uint64_t blamed = blamed_.load();
    if ((blamed & kAny) == 0 || static_cast<std::uint32_t>(blamed) != index) return std::nullopt;
    return static_cast<Status>(static_cast<std::uint8_t>(blamed >> 32U));
  }

 private:
  static constexpr std::uint64_t kAny = std::uint64_t{1} << 63U;
  std::atomic<std::uint64_t> blamed_{0};
};

}  // namespace iwarp::verbs::soft
