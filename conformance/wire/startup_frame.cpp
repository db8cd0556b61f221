#include "wire/startup_frame.hpp"

namespace iwarp::conform {
namespace {

constexpr std::uint16_t kHigh = 0x8000, kNext = 0x4000;

std::uint16_t word(bool high, bool next, std::uint16_t depth) {
  return static_cast<std::uint16_t>((high ? kHigh : 0) | (next ? kNext : 0) |
                                    (depth & kDepthNotStated));
}

EnhancedData parse_enhanced(OctetView octets) {
  const std::uint16_t first = get16(octets, 0), second = get16(octets, 2);
  return {.peer_to_peer = (first & kHigh) != 0,
          .send_rtr = (first & kNext) != 0,
          .ird = static_cast<std::uint16_t>(first & kDepthNotStated),
          .write_rtr = (second & kHigh) != 0,
          .read_rtr = (second & kNext) != 0,
          .ord = static_cast<std::uint16_t>(second & kDepthNotStated)};
}

}  // namespace

Octets encode(const StartupFrame& frame) {
  Octets behind;
  if (const auto& data = frame.enhanced) {
    put16(behind, word(data->peer_to_peer, data->send_rtr, data->ird));
    put16(behind, word(data->write_rtr, data->read_rtr, data->ord));
  }
  put(behind, frame.private_data);
  Octets out = frame.key;
  out.push_back(frame.flags);
  out.push_back(frame.revision);
  put16(out, frame.stated_length.value_or(static_cast<std::uint16_t>(behind.size())));
  put(out, behind);
  return out;
}

std::optional<StartupFrame> parse_startup_frame(OctetView octets, std::size_t& size) {
  if (octets.size() < kStartupHeaderSize) return std::nullopt;
  const std::uint16_t length = get16(octets, 18);
  size = kStartupHeaderSize + length;
  if (octets.size() < size) return std::nullopt;
  StartupFrame frame;
  frame.key.assign(octets.begin(), octets.begin() + 16);
  frame.flags = octets[16];
  frame.revision = octets[17];
  frame.stated_length = length;
  OctetView behind = octets.subspan(kStartupHeaderSize, length);
  if (frame.says_enhanced() && frame.revision >= 2 && length >= 4) {
    frame.enhanced = parse_enhanced(behind);
    behind = behind.subspan(4);
  }
  frame.private_data.assign(behind.begin(), behind.end());
  return frame;
}

Framing framing_to(const StartupFrame& to, const StartupFrame& from) {
  return {.crc = to.crc() || from.crc(), .markers = to.markers()};
}

}  // namespace iwarp::conform
