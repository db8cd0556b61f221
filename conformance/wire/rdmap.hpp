#pragma once

#include "wire/segment.hpp"

namespace iwarp::conform {

/// RDMA Read Request Header (RFC 5040 §4.4), 28 octets.
struct ReadRequest {
  std::uint32_t sink_stag = 0;
  std::uint64_t sink_to = 0;
  std::uint32_t size = 0;
  std::uint32_t source_stag = 0;
  std::uint64_t source_to = 0;

  static constexpr std::size_t kSize = 28;
  bool operator==(const ReadRequest&) const = default;
};
Octets encode(const ReadRequest& request);
std::optional<ReadRequest> parse_read_request(OctetView octets);

/// Operations of RFC 7306 Figure 5.
inline constexpr std::uint8_t kFetchAdd = 0, kCmpSwap = 2;

/// Atomic Request Header (RFC 7306 §5.2.1), 52 octets.
struct AtomicRequest {
  std::uint32_t operation = kFetchAdd;  ///< 28 reserved bits and the code.
  std::uint32_t id = 0;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint64_t data = 0, mask = 0;  ///< Add or Swap.
  std::uint64_t compare = 0, compare_mask = 0;

  static constexpr std::size_t kSize = 52;
};
Octets encode(const AtomicRequest& request);
std::optional<AtomicRequest> parse_atomic_request(OctetView octets);

/// Atomic Response Header (RFC 7306 §5.2.2), 12 octets.
struct AtomicResponse {
  std::uint32_t id = 0;
  std::uint64_t original = 0;

  static constexpr std::size_t kSize = 12;
};
Octets encode(const AtomicResponse& response);
std::optional<AtomicResponse> parse_atomic_response(OctetView octets);

/// Layers of a Terminate.
inline constexpr std::uint8_t kLayerRdmap = 0, kLayerDdp = 1, kLayerMpa = 2;

/// Terminate Control: which layer found what (RFC 5040 Figure 9, RFC 5041 §7, RFC 5044 §8, RFC 6581
/// §8).
struct Cause {
  std::uint8_t layer = 0, type = 0, code = 0;
  bool operator==(const Cause&) const = default;
};

/// What RDMAP finds (RFC 5040 Figure 9).
namespace rdmap_error {
inline constexpr Cause kInvalidStag{0, 1, 0x00}, kBounds{0, 1, 0x01}, kAccess{0, 1, 0x02},
    kNotAssociated{0, 1, 0x03}, kToWrap{0, 1, 0x04}, kCannotInvalidate{0, 1, 0x09},
    kVersion{0, 2, 0x05}, kOpcode{0, 2, 0x06}, kStreamCatastrophic{0, 2, 0x07},
    kCannotInvalidateOperation{0, 2, 0x09};
}
/// What DDP finds (RFC 5041 §7.2).
namespace ddp_error {
inline constexpr Cause kInvalidStag{1, 1, 0x00}, kBounds{1, 1, 0x01}, kNotAssociated{1, 1, 0x02},
    kToWrap{1, 1, 0x03}, kTaggedVersion{1, 1, 0x04}, kInvalidQn{1, 2, 0x01}, kNoBuffer{1, 2, 0x02},
    kMsnRange{1, 2, 0x03}, kInvalidMo{1, 2, 0x04}, kTooLong{1, 2, 0x05},
    kUntaggedVersion{1, 2, 0x06};
}
/// Such as "RDMAP / Remote Protection Error / Invalid STag (0/1/0x00)".
std::string describe(const Cause& cause);

/// Terminate Header (RFC 5040 §4.8).
struct Terminate {
  Cause cause;
  bool has_length = false, has_ddp_header = false, has_rdma_header = false;  ///< M, D, R.
  std::uint16_t reserved = 0;                                                ///< 13 bits.
  std::optional<std::uint16_t> segment_length{};
  Octets ddp_header{};                        ///< 14 or 18 octets.
  std::optional<ReadRequest> read_request{};  ///< The terminated RDMA header.
};
Octets encode(const Terminate& terminate);
/// None if it is shorter than its header control bits announce.
std::optional<Terminate> parse_terminate(OctetView octets);

}  // namespace iwarp::conform
