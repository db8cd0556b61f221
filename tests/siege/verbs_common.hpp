#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

#include "support/loopback_address.hpp"

/// What server and client of the siege's verbs program share.
namespace iwarp::siege {

/// The longest message.
inline constexpr std::size_t kMessage = 1024;

inline void must(int result, const char* what) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), what);
}
template <typename T>
T* must(T* result, const char* what) {
  if (result == nullptr) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

using iwarp::test::loopback;

inline std::uint16_t port_of(const std::string& text) {
  const unsigned long port = std::stoul(text);
  if (port > 65535) throw std::out_of_range("no port: " + text);
  return static_cast<std::uint16_t>(port);
}

/// Where a table is, as the server tells its peers in private data: Tagged Offset (8 octets), key
/// (4) and length (8), in network order.
using Advertisement = std::array<std::uint8_t, 20>;

inline Advertisement advertise(const ibv_mr& region) {
  Advertisement out{};
  const auto put = [&out](std::size_t at, std::uint64_t value, std::size_t octets) {
    for (std::size_t i = 0; i < octets; ++i) {
      out[at + i] = static_cast<std::uint8_t>(value >> 8 * (octets - 1 - i));
    }
  };
  put(0, reinterpret_cast<std::uintptr_t>(region.addr), 8);
  put(8, region.rkey, 4);
  put(12, region.length, 8);
  return out;
}

/// The number of so many octets in network order.
inline std::uint64_t number_at(const std::uint8_t* from, std::size_t octets) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < octets; ++i) value = value << 8 | from[i];
  return value;
}

}  // namespace iwarp::siege
