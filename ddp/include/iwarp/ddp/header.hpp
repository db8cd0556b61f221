#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/base/strong_id.hpp"
#include "iwarp/ddp/error.hpp"

namespace iwarp::ddp {

/// The DDP version of RFC 5041 (§4.1).
inline constexpr std::uint8_t kVersion = 1;
/// Octets of a header (RFC 5041 §4.2).
inline constexpr std::size_t kTaggedHeaderSize = 14;
/// Octets of a header (RFC 5041 §4.3).
inline constexpr std::size_t kUntaggedHeaderSize = 18;

/// Whether a segment is the last of its message (the L flag).
enum class Last : bool { kNo, kYes };

/// The header of a segment for a Tagged Buffer (RFC 5041 §4.2).
struct TaggedHeader {
  Last last = Last::kNo;      ///< L.
  std::uint8_t rsvd_ulp = 0;  ///< Belongs to the layer above.
  Stag stag;                  ///< Of the Tagged Buffer.
  TaggedOffset to;            ///< Of the first octet of the payload.

  /// Writes kTaggedHeaderSize octets.
  void encode(std::byte* at) const;
  bool operator==(const TaggedHeader&) const = default;
};

/// The header of a segment for an Untagged Buffer (RFC 5041 §4.3). RsvdULP's 40 bits are one octet
/// and one word, as the layer above uses them.
struct UntaggedHeader {
  Last last = Last::kNo;            ///< L.
  std::uint8_t rsvd_ulp = 0;        ///< RsvdULP's first octet.
  std::uint32_t rsvd_ulp_word = 0;  ///< RsvdULP's other four octets.
  QueueNumber qn;                   ///< The untagged queue.
  Msn msn;                          ///< The message.
  MessageOffset mo;                 ///< Where in the message the payload belongs.

  /// Writes kUntaggedHeaderSize octets.
  void encode(std::byte* at) const;
  bool operator==(const UntaggedHeader&) const = default;
};

/// A received DDP Segment, taken apart: header and payload. The payload points into the ULPDU.
template <typename Header>
struct Segment {
  Header header;       ///< Decoded.
  ConstBytes payload;  ///< What follows the header, perhaps nothing.
};
/// A segment for a Tagged Buffer.
using TaggedSegment = Segment<TaggedHeader>;
/// A segment for an Untagged Buffer.
using UntaggedSegment = Segment<UntaggedHeader>;
/// Either, as the T flag says.
using AnySegment = std::variant<TaggedSegment, UntaggedSegment>;

/// Takes a ULPDU apart. Errors: kTruncatedHeader, kTaggedVersion, kUntaggedVersion. Reserved bits
/// are ignored.
Result<AnySegment, Error> parse(ConstBytes ulpdu);

/// Makes the encoded header of a segment that of the one which follows it in the same message, its
/// payload beginning `octets` further on: in TO or MO, as the T flag says.
void advance(std::byte* header, std::uint32_t octets);

/// Makes the encoded header of a tagged segment that of one like it which begins elsewhere.
void aim(std::byte* header, Stag stag, TaggedOffset to);
/// Makes the encoded header of an untagged segment that of one like it in the next message of its
/// queue.
void advance_message(std::byte* header);

/// Size of the header that a ULPDU claims to start with, by its T flag; 0 if it is empty.
std::size_t claimed_header_size(ConstBytes ulpdu);

}  // namespace iwarp::ddp
