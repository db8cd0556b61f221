#pragma once

#include <string>

#include "decode/cursor.hpp"
#include "wire/fpdu.hpp"

namespace iwarp::conform {

// What the layers make of octets, as far as it goes. Each returns a sentence for the reader, such
// as "Send (QN 0, MSN 1, MO 0, 12 octets, last)".

/// A start-up frame, or what came in place of one (RFC 5044 §7.1.1, RFC 6581 §9).
std::string decode_startup(Cursor& cursor);
/// A DDP Segment: all that the cursor has left (RFC 5041 §4, RFC 5040 §4).
std::string decode_segment(Cursor& cursor);
/// An FPDU, Markers and all (RFC 5044 §4).
struct DecodedFpdu {
  std::string summary;
  std::vector<Field> fields;
};
DecodedFpdu decode_fpdu(OctetView wire, const Framing& framing, std::uint64_t position);

// The headers behind the DDP header.
std::string decode_read_request(Cursor& cursor);
std::string decode_atomic_request(Cursor& cursor);
std::string decode_atomic_response(Cursor& cursor);
std::string decode_terminate(Cursor& cursor);

/// The DDP header with the RDMAP Control octet in it.
struct SegmentHeader {
  bool whole = false;  ///< The rest holds only then.
  bool tagged = false, last = false;
  std::uint8_t opcode = 0;
  std::uint32_t stag = 0, qn = 0, msn = 0, mo = 0;
  std::uint64_t to = 0;
};
SegmentHeader decode_segment_header(Cursor& cursor);

}  // namespace iwarp::conform
