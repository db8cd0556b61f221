#pragma once

#include <optional>

#include "wire/octets.hpp"

namespace iwarp::conform {

/// Bits of the DDP Control octet (RFC 5041 §4.1).
inline constexpr std::uint8_t kTagged = 0x80, kLast = 0x40, kDdpReserved = 0x3C,
                              kDdpVersionMask = 0x03, kDdpVersion = 0x01;
/// Bits of the RDMAP Control octet (RFC 5040 §4.1).
inline constexpr std::uint8_t kRdmapVersionMask = 0xC0, kRdmapVersion = 0x40, kRdmapReserved = 0x30,
                              kOpcodeMask = 0x0F;
inline constexpr std::size_t kTaggedHeaderSize = 14, kUntaggedHeaderSize = 18;

/// RFC 5040 Figure 4 and RFC 7306 Figure 2.
enum Opcode : std::uint8_t {
  kWrite = 0,
  kReadRequest = 1,
  kReadResponse = 2,
  kSend = 3,
  kSendInvalidate = 4,
  kSendSolicited = 5,
  kSendSolicitedInvalidate = 6,
  kTerminate = 7,
  kImmediate = 8,
  kImmediateSolicited = 9,
  kAtomicRequest = 10,
  kAtomicResponse = 11,
};

/// Queue numbers: RFC 5040 §4.2, RFC 7306 §5.2.
inline constexpr std::uint32_t kSendQueue = 0, kReadQueue = 1, kTerminateQueue = 2,
                               kAtomicResponseQueue = 3;

/// The message that has an opcode.
struct MessageKind {
  std::string_view name;
  bool tagged = false;
  std::uint32_t queue = kSendQueue;  ///< If it is untagged.
  bool invalidates = false;          ///< Its Invalidate STag means something.
};
/// nullptr for an opcode that no message has.
const MessageKind* kind_of(std::uint8_t opcode);
std::string_view name_of(std::uint8_t opcode);

/// A DDP Segment, which is what one FPDU holds. Any field may be something illegal.
struct Segment {
  std::uint8_t ddp_control = kLast | kDdpVersion;
  std::uint8_t rdmap_control = kRdmapVersion;
  // Tagged:
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  // Untagged:
  std::uint32_t invalidate_stag = 0;  ///< RsvdULP, octets 2 to 5.
  std::uint32_t qn = 0, msn = 1, mo = 0;
  Octets payload;

  bool tagged() const { return (ddp_control & kTagged) != 0; }
  bool last() const { return (ddp_control & kLast) != 0; }
  std::uint8_t opcode() const { return rdmap_control & kOpcodeMask; }
};

/// The usual ones; tests change what they want to be wrong.
Segment tagged_segment(Opcode opcode, std::uint32_t stag, std::uint64_t to, Octets payload,
                       bool last = true);
Segment untagged_segment(Opcode opcode, std::uint32_t qn, std::uint32_t msn, std::uint32_t mo,
                         Octets payload, bool last = true);

Octets encode(const Segment& segment);
/// None if the ULPDU is shorter than the header that its first octet announces.
std::optional<Segment> parse_segment(OctetView ulpdu);

}  // namespace iwarp::conform
