#pragma once

#include <optional>

#include "wire/fpdu.hpp"

namespace iwarp::conform {

inline constexpr std::string_view kRequestKey = "MPA ID Req Frame";
inline constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
inline constexpr std::size_t kStartupHeaderSize = 20;
inline constexpr std::size_t kMaxPrivateData = 512;

/// Flags of the octet behind the key: RFC 5044 §7.1.1, S from RFC 6581 §6.
inline constexpr std::uint8_t kFlagMarkers = 0x80, kFlagCrc = 0x40, kFlagReject = 0x20,
                              kFlagEnhanced = 0x10;

/// The four octets in front of the Private Data of an enhanced frame (RFC 6581 §9).
struct EnhancedData {
  bool peer_to_peer = false, send_rtr = false;  ///< A and B, beside the IRD.
  std::uint16_t ird = 0;                        ///< 14 bits.
  bool write_rtr = false, read_rtr = false;     ///< C and D, beside the ORD.
  std::uint16_t ord = 0;

  bool operator==(const EnhancedData&) const = default;
};
inline constexpr std::uint16_t kDepthNotStated = 0x3FFF;

/// An MPA Request or Reply Frame. Every field can be set to something illegal.
struct StartupFrame {
  Octets key = octets(kRequestKey);
  std::uint8_t flags = kFlagCrc;
  std::uint8_t revision = 2;
  std::optional<std::uint16_t> stated_length;  ///< PD_Length, if it shall not be the true one.
  std::optional<EnhancedData> enhanced;        ///< Written in front of the private data.
  Octets private_data;

  bool crc() const { return (flags & kFlagCrc) != 0; }
  bool markers() const { return (flags & kFlagMarkers) != 0; }
  bool rejected() const { return (flags & kFlagReject) != 0; }
  bool says_enhanced() const { return (flags & kFlagEnhanced) != 0; }
};

Octets encode(const StartupFrame& frame);

/// The frame at the beginning of `octets`, none if there are too few. Takes any key and flags. The
/// enhanced data are split off if the frame says S with a revision of two or more and has them.
std::optional<StartupFrame> parse_startup_frame(OctetView octets, std::size_t& size);

/// How the octets that go to the sender of `to` are framed after these two frames: CRCs if either
/// asks for them, Markers if `to` does (RFC 5044 §7.1.1).
Framing framing_to(const StartupFrame& to, const StartupFrame& from);

}  // namespace iwarp::conform
