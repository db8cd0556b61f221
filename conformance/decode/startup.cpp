#include "decode/layers.hpp"
#include "wire/startup_frame.hpp"

namespace iwarp::conform {
namespace {

constexpr std::size_t kKeySize = 16, kEnhancedSize = 4;
constexpr std::uint8_t kReservedFlags = 0x0F;

std::string printable(OctetView octets) {
  std::string text;
  for (const std::uint8_t octet : octets) {
    text += octet >= ' ' && octet <= '~' ? static_cast<char>(octet) : '.';
  }
  return text;
}

std::string decode_key(Cursor& cursor) {
  const bool whole = cursor.left() >= kKeySize;
  const std::string key = printable(cursor.octets(Part::kMpa, kKeySize, "Key"));
  if (!whole) return "the beginning of a start-up frame";
  cursor.says('"' + key + '"');
  if (key == kRequestKey) return "MPA Request Frame";
  if (key == kReplyKey) return "MPA Reply Frame";
  cursor.irregular("neither that of a Request nor that of a Reply");
  return "a start-up frame with an unknown key";
}

// The revision decides what S means, and comes behind it.
struct Flags {
  std::uint64_t octet = 0;
  std::uint8_t revision = 0;
  bool is(std::uint8_t flag) const { return (octet & flag) != 0; }
  bool enhanced() const { return is(kFlagEnhanced) && revision >= 2; }
};

void decode_flags(Cursor& cursor, Flags flags, bool request) {
  const auto flag = [&](std::uint8_t mask, std::string_view name, std::string_view set,
                        std::string_view unset) {
    const bool on = cursor.bits(8, flags.octet, mask, name) != 0;
    cursor.says(on ? "1: " + std::string(set) : "0: " + std::string(unset));
  };
  flag(kFlagMarkers, "M", "wants Markers in what it receives", "takes no Markers");
  flag(kFlagCrc, "C", "wants CRCs", "does not ask for CRCs");
  flag(kFlagReject, "R", "rejected", "not rejected");
  if (request && flags.is(kFlagReject)) cursor.irregular("which a Request cannot say");
  flag(kFlagEnhanced, "S", "enhanced set-up data follow", "no enhanced set-up data");
  if (flags.is(kFlagEnhanced) && flags.revision < 2) cursor.irregular("reserved in revision 1");
  if (cursor.bits(8, flags.octet, kReservedFlags, "Res") != 0) cursor.irregular("not zero");
}

// One half of the enhanced data: two flags and a depth.
struct Half {
  std::string_view high, high_set, high_unset, next, next_set, next_unset, depth, meaning;
};
constexpr Half kIrdHalf{"A",   "peer-to-peer: the responder may send first", "client-server",
                        "B",   "a zero-length Send may be the RTR",          "no Send as RTR",
                        "IRD", "RDMA Reads that it serves at a time"};
constexpr Half kOrdHalf{"C",   "a zero-length RDMA Write may be the RTR", "no RDMA Write as RTR",
                        "D",   "a zero-length RDMA Read may be the RTR",  "no RDMA Read as RTR",
                        "ORD", "RDMA Reads that it asks for at a time"};

void decode_half(Cursor& cursor, const Half& half, std::string& summary) {
  const auto word = cursor.hex(Part::kMpa, 2, half.depth == "IRD" ? "A, B, IRD" : "C, D, ORD");
  if (!word) return;
  const auto flag = [&](std::uint64_t mask, std::string_view name, std::string_view set,
                        std::string_view unset) {
    const bool on = cursor.bits(16, *word, mask, name) != 0;
    cursor.says(on ? "1: " + std::string(set) : "0: " + std::string(unset));
    if (on) summary += ", " + std::string(name);
  };
  flag(0x8000, half.high, half.high_set, half.high_unset);
  flag(0x4000, half.next, half.next_set, half.next_unset);
  const std::uint64_t depth = cursor.bits(16, *word, kDepthNotStated, half.depth);
  const bool stated = depth != kDepthNotStated;
  cursor.says(std::to_string(depth) + (stated ? ": " + std::string(half.meaning) : ": not stated"));
  summary += ", " + std::string(half.depth) + ' ' + (stated ? std::to_string(depth) : "not stated");
}

void decode_private_data(Cursor& cursor, const Flags& flags, std::size_t length,
                         std::string& summary) {
  if (flags.enhanced() && length >= kEnhancedSize) {
    cursor.begin_group(Part::kMpa, kEnhancedSize, "Enhanced RDMA Connection Establishment Data",
                       "");
    decode_half(cursor, kIrdHalf, summary);
    decode_half(cursor, kOrdHalf, summary);
    cursor.end_group();
    length -= kEnhancedSize;
  }
  if (length == 0) return;
  summary += ", " + count_of(length) + " of Private Data";
  const OctetView data = cursor.octets(Part::kPayload, length, "Private Data");
  if (!data.empty())
    cursor.field().value +=
        ": \"" + printable(data.first(std::min<std::size_t>(data.size(), 64))) + '"';
}

}  // namespace

std::string decode_startup(Cursor& cursor) {
  if (cursor.left() == 0) return "nothing";
  std::string summary = decode_key(cursor);
  const bool request = summary == "MPA Request Frame";
  if (cursor.left() == 0) return summary + ", cut off";
  Flags flags{.revision = cursor.left() > 1 ? cursor.rest()[1] : std::uint8_t{2}};
  flags.octet = cursor.hex(Part::kMpa, 1, "Flags").value_or(0);
  decode_flags(cursor, flags, request);
  if (const auto revision = cursor.number(Part::kMpa, 1, "Rev")) {
    if (*revision != 1 && *revision != 2) cursor.irregular("unknown");
    summary += ", revision " + std::to_string(*revision);
  }
  for (const auto& [flag, text] :
       {std::pair(kFlagMarkers, "Markers"), {kFlagCrc, "CRC"}, {kFlagReject, "rejected"}}) {
    if (flags.is(flag)) summary += std::string(", ") + text;
  }
  const auto length = cursor.number(Part::kMpa, 2, "PD_Length");
  if (!length) return summary + ", cut off";
  const std::size_t there = cursor.left();
  if (*length > kMaxPrivateData) cursor.irregular("more than the 512 that it may be");
  if (*length > there) cursor.irregular("but only " + count_of(there) + " follow");
  if (flags.enhanced() && *length < kEnhancedSize) {
    cursor.irregular("too short for the enhanced data that S announces");
  }
  decode_private_data(cursor, flags, *length, summary);
  cursor.surplus(Part::kUnknown, "behind the end that PD_Length states");
  return *length > there ? summary + ", cut off" : summary;
}

}  // namespace iwarp::conform
