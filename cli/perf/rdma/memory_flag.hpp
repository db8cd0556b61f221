#pragma once

#include <atomic>
#include <cstdint>

#include "perf/rdma/buffer.hpp"

/// The last octet of a message that is watched in memory: it changes with every Write.
namespace iwarp::cli::perf {

/// The value of the octet at `at`; the octets of the Write that stored it are visible too.
inline std::uint8_t load_flag(std::byte* at) {
  return std::atomic_ref<std::uint8_t>(*reinterpret_cast<std::uint8_t*>(at))
      .load(std::memory_order_acquire);
}

inline void store_flag(std::byte* at, std::uint8_t value) {
  std::atomic_ref<std::uint8_t>(*reinterpret_cast<std::uint8_t*>(at))
      .store(value, std::memory_order_release);
}

/// 1 after 0, 2 after 1 and so on, 1 after 255.
inline std::uint8_t next_flag(std::uint8_t flag) {
  return flag == 255 ? std::uint8_t{1} : static_cast<std::uint8_t>(flag + 1);
}

}  // namespace iwarp::cli::perf
