#include "iwarp/mpa/startup_frame.hpp"

#include <cassert>
#include <cstring>
#include <string_view>

namespace iwarp::mpa {
namespace {

// RFC 5044 §7.1.1, with S from RFC 6581 §6.
constexpr std::size_t kFlagsOffset = 16;
constexpr std::size_t kRevisionOffset = 17;
constexpr std::size_t kPdLengthOffset = 18;
constexpr std::uint8_t kFlagM = 0x80;
constexpr std::uint8_t kFlagC = 0x40;
constexpr std::uint8_t kFlagR = 0x20;
constexpr std::uint8_t kFlagS = 0x10;

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
static_assert(kRequestKey.size() == kFlagsOffset && kReplyKey.size() == kFlagsOffset);

constexpr std::string_view key_of(FrameKind kind) {
  return kind == FrameKind::kRequest ? kRequestKey : kReplyKey;
}

constexpr FrameKind other(FrameKind kind) {
  return kind == FrameKind::kRequest ? FrameKind::kReply : FrameKind::kRequest;
}

std::uint8_t octet(ConstBytes bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

// The first octet that differs decides, so that the answer does not depend on where the bytes
// happened to be cut.
Result<void, Error> check_key(ConstBytes prefix, FrameKind expected) {
  const std::string_view key = key_of(expected);
  const std::string_view other_key = key_of(other(expected));
  for (std::size_t i = 0; i < std::min(prefix.size(), key.size()); ++i) {
    const char c = static_cast<char>(octet(prefix, i));
    if (c == key[i]) continue;
    if (c != other_key[i]) return failure(Error::kBadKey);
    return failure(expected == FrameKind::kReply ? Error::kBothInitiators : Error::kBothResponders);
  }
  return {};
}

constexpr bool is_spoken(std::uint8_t revision) {
  return revision == static_cast<std::uint8_t>(Revision::k1) ||
         revision == static_cast<std::uint8_t>(Revision::k2);
}

// In revision 1 the S bit is a reserved one.
bool is_enhanced(ConstBytes header) {
  return octet(header, kRevisionOffset) >= static_cast<std::uint8_t>(Revision::k2) &&
         (octet(header, kFlagsOffset) & kFlagS) != 0;
}

std::uint8_t flags_of(const StartupFrame& frame) {
  unsigned flags = 0;
  if (frame.markers == Markers::kOn) flags |= kFlagM;
  if (frame.crc == Crc::kOn) flags |= kFlagC;
  if (frame.verdict == Verdict::kRejected) flags |= kFlagR;
  if (frame.enhanced) flags |= kFlagS;
  return static_cast<std::uint8_t>(flags);
}

}  // namespace

std::size_t StartupFrame::size() const {
  return kStartupHeaderSize + (enhanced ? kEnhancedDataSize : 0) + private_data.size();
}

Result<std::size_t, Error> StartupFrame::encode(MutableBytes out) const {
  if (private_data.size() > max_ulp_private_data(enhanced)) {
    return failure(Error::kPrivateDataTooLong);
  }
  if (enhanced && revision == Revision::k1) return failure(Error::kInvalidOptions);
  assert(out.size() >= size());
  std::byte* at = out.data();
  std::memcpy(at, key_of(kind).data(), kFlagsOffset);
  store_be(at + kFlagsOffset, flags_of(*this));
  store_be(at + kRevisionOffset, static_cast<std::uint8_t>(revision));
  store_be(at + kPdLengthOffset, static_cast<std::uint16_t>(size() - kStartupHeaderSize));
  at += kStartupHeaderSize;
  if (enhanced) {
    const auto word = enhanced->encode();
    std::memcpy(at, word.data(), word.size());
    at += word.size();
  }
  if (!private_data.empty()) std::memcpy(at, private_data.data(), private_data.size());
  return size();
}

Result<std::size_t, Error> startup_frame_size(ConstBytes prefix, FrameKind expected) {
  if (const auto key = check_key(prefix, expected); !key) return failure(key.error());
  if (prefix.size() > kRevisionOffset && !is_spoken(octet(prefix, kRevisionOffset))) {
    return failure(Error::kUnsupportedRevision);
  }
  if (prefix.size() < kStartupHeaderSize) return kStartupHeaderSize;
  const std::size_t pd_length = load_be<std::uint16_t>(prefix.data() + kPdLengthOffset);
  if (pd_length > kMaxPrivateData) return failure(Error::kPrivateDataTooLong);
  if (is_enhanced(prefix) && pd_length < kEnhancedDataSize) {
    return failure(Error::kMissingEnhancedData);
  }
  return kStartupHeaderSize + pd_length;
}

Result<StartupFrameView, Error> StartupFrameView::parse(ConstBytes bytes, FrameKind expected) {
  const auto size = startup_frame_size(bytes, expected);
  if (!size) return failure(size.error());
  if (bytes.size() < *size) return failure(Error::kTruncated);
  return StartupFrameView(bytes.first(*size));
}

Revision StartupFrameView::revision() const {
  return static_cast<Revision>(octet(bytes_, kRevisionOffset));
}

Markers StartupFrameView::markers() const {
  return (octet(bytes_, kFlagsOffset) & kFlagM) != 0 ? Markers::kOn : Markers::kOff;
}

Crc StartupFrameView::crc() const {
  return (octet(bytes_, kFlagsOffset) & kFlagC) != 0 ? Crc::kOn : Crc::kOff;
}

Verdict StartupFrameView::verdict() const {
  return (octet(bytes_, kFlagsOffset) & kFlagR) != 0 ? Verdict::kRejected : Verdict::kAccepted;
}

std::optional<EnhancedData> StartupFrameView::enhanced() const {
  if (!is_enhanced(bytes_)) return std::nullopt;
  return EnhancedData::parse(bytes_.subspan<kStartupHeaderSize, kEnhancedDataSize>());
}

ConstBytes StartupFrameView::private_data() const {
  return bytes_.subspan(kStartupHeaderSize + (is_enhanced(bytes_) ? kEnhancedDataSize : 0));
}

}  // namespace iwarp::mpa
