#include "iwarp/mpa/deframer.hpp"

#include <algorithm>
#include <cstring>

#include "iwarp/base/crc32c.hpp"

namespace iwarp::mpa {
namespace {

// RFC 5044 §4.2: the two low bits of FPDUPTR count as zero.
constexpr std::uint16_t kFpduPtrMask = 0xFFFC;

// Where the parts of a marked FPDU lie, as offsets into its bytes.
struct Layout {
  std::size_t start;         // of ULPDU_Length: behind the Marker that may stand in front
  std::size_t first_marker;  // that the FPDU contains, if it reaches that far

  explicit Layout(std::size_t phase)
      : start(phase == 0 ? kMarkerSize : 0), first_marker(octets_to_marker(phase)) {}
};

// RFC 5044 §8, code 3: each Marker tells the distance to ULPDU_Length, or zero right in front of
// it.
bool markers_agree(ConstBytes fpdu, const Layout& layout) {
  for (std::size_t at = layout.first_marker; at < fpdu.size(); at += kMarkerInterval) {
    const auto pointer = load_be<std::uint16_t>(fpdu.data() + at + kFpduPtrOffset);
    const std::size_t distance = at < layout.start ? 0 : at - layout.start;
    if ((pointer & kFpduPtrMask) != static_cast<std::uint16_t>(distance)) return false;
  }
  return true;
}

// Moves the parts of the ULPDU together over the Markers between them.
MutableBytes squeeze(MutableBytes fpdu, const Layout& layout, std::size_t ulpdu_length) {
  const std::size_t body = layout.start + kUlpduLengthSize;
  const std::size_t marker = layout.first_marker + (layout.start == 0 ? 0 : kMarkerInterval);
  std::size_t kept = std::min(marker - body, ulpdu_length);
  for (std::size_t from = marker + kMarkerSize; kept < ulpdu_length; from += kMarkerInterval) {
    const std::size_t size = std::min(kMarkerSpacing, ulpdu_length - kept);
    std::memmove(fpdu.data() + body + kept, fpdu.data() + from, size);
    kept += size;
  }
  return fpdu.subspan(body, ulpdu_length);
}

}  // namespace

Deframed Deframer::next(MutableBytes bytes) {
  if (error_) return *error_;
  if (markers_ == Markers::kOn) return next_marked(bytes);
  if (bytes.size() < kUlpduLengthSize) return NeedMore{kUlpduLengthSize};
  const std::size_t ulpdu_length = load_be<std::uint16_t>(bytes.data());
  const std::size_t size = unmarked_size(ulpdu_length);
  if (bytes.size() < size) return NeedMore{size};
  if (!crc_matches(bytes.first(size))) return fail(Error::kCrcMismatch);
  return Fpdu{bytes.subspan(kUlpduLengthSize, ulpdu_length), size};
}

Deframed Deframer::next_marked(MutableBytes bytes) {
  const Layout layout(phase_);
  if (bytes.size() < layout.start + kUlpduLengthSize) {
    return NeedMore{layout.start + kUlpduLengthSize};
  }
  const std::size_t ulpdu_length = load_be<std::uint16_t>(bytes.data() + layout.start);
  const std::size_t unmarked = unmarked_size(ulpdu_length);
  const std::size_t size = unmarked + marker_count(layout.first_marker, unmarked) * kMarkerSize;
  if (bytes.size() < size) return NeedMore{size};
  const MutableBytes fpdu = bytes.first(size);
  if (!crc_matches(fpdu)) return fail(Error::kCrcMismatch);
  if (!markers_agree(fpdu, layout)) return fail(Error::kMarkerMismatch);
  phase_ = static_cast<std::uint16_t>((phase_ + size) % kMarkerInterval);
  return Fpdu{squeeze(fpdu, layout, ulpdu_length), size};
}

Deframed Deframer::fail(Error error) {
  error_ = error;
  return error;
}

bool Deframer::crc_matches(ConstBytes fpdu) const {
  if (crc_ == Crc::kOff) return true;
  const std::size_t checked = fpdu.size() - kCrcSize;
  return load_le<std::uint32_t>(fpdu.data() + checked) == crc32c(fpdu.first(checked));
}

}  // namespace iwarp::mpa
