#pragma once

#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/verbs/types.hpp"

/// What rping sends and puts into its buffers.
namespace iwarp::interop {

/// Octets of an advertisement: address (8), STag (4), length (4), in network byte order.
inline constexpr std::size_t kAdvertisementSize = 16;
/// The smallest and the largest buffer that rping takes.
inline constexpr std::uint32_t kSmallestPing = 23;
inline constexpr std::uint32_t kLargestPing = 65535;

void encode_advertisement(const verbs::RemoteBuffer& buffer, std::byte* at);
verbs::RemoteBuffer parse_advertisement(const std::byte* at);

/// Fills `buffer` as rping's client does for its ping number `ping` (from 0): "rdma-ping-N: ",
/// then octets that count up from 'A' + N through 'z' and again from 'A', and a zero at the end.
void fill_ping(MutableBytes buffer, std::uint32_t ping);
/// Whether `buffer` holds exactly that.
bool is_ping(ConstBytes buffer, std::uint32_t ping);

}  // namespace iwarp::interop
