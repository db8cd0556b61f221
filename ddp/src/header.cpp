#include "iwarp/ddp/header.hpp"

namespace iwarp::ddp {
namespace {

// DDP Control Field (RFC 5041 §4.1): T, L, four reserved bits, DV.
constexpr std::uint8_t kTaggedFlag = 0x80;
constexpr std::uint8_t kLastFlag = 0x40;
constexpr std::uint8_t kVersionMask = 0x03;

constexpr std::size_t kControlAt = 0;
constexpr std::size_t kRsvdUlpAt = 1;
constexpr std::size_t kTaggedStagAt = 2;
constexpr std::size_t kTaggedToAt = 6;
constexpr std::size_t kUntaggedWordAt = 2;
constexpr std::size_t kUntaggedQnAt = 6;
constexpr std::size_t kUntaggedMsnAt = 10;
constexpr std::size_t kUntaggedMoAt = 14;

std::uint8_t octet(ConstBytes bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

std::byte control(std::uint8_t tagged, Last last) {
  return std::byte(tagged | (last == Last::kYes ? kLastFlag : 0U) | kVersion);
}

Last last_of(ConstBytes ulpdu) {
  return (octet(ulpdu, kControlAt) & kLastFlag) != 0 ? Last::kYes : Last::kNo;
}

TaggedSegment tagged(ConstBytes ulpdu) {
  return {{last_of(ulpdu), octet(ulpdu, kRsvdUlpAt),
           Stag{load_be<std::uint32_t>(&ulpdu[kTaggedStagAt])},
           TaggedOffset{load_be<std::uint64_t>(&ulpdu[kTaggedToAt])}},
          ulpdu.subspan(kTaggedHeaderSize)};
}

UntaggedSegment untagged(ConstBytes ulpdu) {
  return {
      {last_of(ulpdu), octet(ulpdu, kRsvdUlpAt), load_be<std::uint32_t>(&ulpdu[kUntaggedWordAt]),
       QueueNumber{load_be<std::uint32_t>(&ulpdu[kUntaggedQnAt])},
       Msn{load_be<std::uint32_t>(&ulpdu[kUntaggedMsnAt])},
       MessageOffset{load_be<std::uint32_t>(&ulpdu[kUntaggedMoAt])}},
      ulpdu.subspan(kUntaggedHeaderSize)};
}

}  // namespace

void TaggedHeader::encode(std::byte* at) const {
  at[kControlAt] = control(kTaggedFlag, last);
  at[kRsvdUlpAt] = std::byte{rsvd_ulp};
  store_be(at + kTaggedStagAt, stag.value());
  store_be(at + kTaggedToAt, to.value());
}

void UntaggedHeader::encode(std::byte* at) const {
  at[kControlAt] = control(0, last);
  at[kRsvdUlpAt] = std::byte{rsvd_ulp};
  store_be(at + kUntaggedWordAt, rsvd_ulp_word);
  store_be(at + kUntaggedQnAt, qn.value());
  store_be(at + kUntaggedMsnAt, msn.value());
  store_be(at + kUntaggedMoAt, mo.value());
}

void advance(std::byte* header, std::uint32_t octets) {
  if ((std::to_integer<std::uint8_t>(header[kControlAt]) & kTaggedFlag) != 0) {
    std::byte* const to = header + kTaggedToAt;
    store_be(to, load_be<std::uint64_t>(to) + octets);
  } else {
    std::byte* const mo = header + kUntaggedMoAt;
    store_be(mo, load_be<std::uint32_t>(mo) + octets);
  }
}

void aim(std::byte* header, Stag stag, TaggedOffset to) {
  store_be(header + kTaggedStagAt, stag.value());
  store_be(header + kTaggedToAt, to.value());
}

void advance_message(std::byte* header) {
  std::byte* const at = header + kUntaggedMsnAt;
  store_be(at, next(Msn{load_be<std::uint32_t>(at)}).value());
}

std::size_t claimed_header_size(ConstBytes ulpdu) {
  if (ulpdu.empty()) return 0;
  return (octet(ulpdu, kControlAt) & kTaggedFlag) != 0 ? kTaggedHeaderSize : kUntaggedHeaderSize;
}

Result<AnySegment, Error> parse(ConstBytes ulpdu) {
  const std::size_t header_size = claimed_header_size(ulpdu);
  if (header_size == 0 || ulpdu.size() < header_size) return failure(Error::kTruncatedHeader);
  const bool is_tagged = header_size == kTaggedHeaderSize;
  if ((octet(ulpdu, kControlAt) & kVersionMask) != kVersion) {
    return failure(is_tagged ? Error::kTaggedVersion : Error::kUntaggedVersion);
  }
  if (is_tagged) return AnySegment{tagged(ulpdu)};
  return AnySegment{untagged(ulpdu)};
}

}  // namespace iwarp::ddp
