#include "wire/fpdu.hpp"

#include <algorithm>
#include <array>

#include "wire/crc32c.hpp"

namespace iwarp::conform {
namespace {

Octets least_significant_first(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
}

// Takes the parts of one FPDU out of the octets that have come, and notes the Markers among them.
class PartTaker {
 public:
  PartTaker(OctetView octets, const Framing& framing, std::uint64_t position)
      : octets_(octets), framing_(framing), position_(position) {}

  // `count` octets that are no Markers. False if they have not all come yet, here and below.
  bool take(std::size_t count, Octets& into) {
    for (; count > 0; --count) {
      if (!pass_marker()) return false;
      if (!length_at_) length_at_ = at_;
      if (at_ == octets_.size()) return false;
      into.push_back(octets_[at_++]);
    }
    return true;
  }
  // A Marker that would split the CRC stands in front of it.
  bool take_crc(std::uint32_t& crc) {
    if (!pass_marker() || octets_.size() < at_ + kCrcSize) return false;
    crc = crc_in(octets_.subspan(at_));
    at_ += kCrcSize;
    return true;
  }

  OctetView taken() const { return octets_.first(at_); }
  std::size_t length_at() const { return length_at_.value_or(0); }
  std::vector<Fpdu::Marker> markers;

 private:
  bool pass_marker() {
    if (!framing_.markers || (position_ + at_) % kMarkerPeriod != 0) return true;
    if (octets_.size() < at_ + kMarkerSize) return false;
    markers.push_back({at_, get16(octets_, at_), get16(octets_, at_ + 2)});
    at_ += kMarkerSize;
    return true;
  }

  OctetView octets_;
  const Framing& framing_;
  std::uint64_t position_;
  std::size_t at_ = 0;
  std::optional<std::size_t> length_at_;
};

void judge_markers(Fpdu& fpdu, std::size_t length_at) {
  for (const Fpdu::Marker& marker : fpdu.markers) {
    const std::size_t expected = fpduptr_of(marker.offset, length_at);
    if (marker.fpduptr != expected) {
      fpdu.faults.push_back("the Marker at stream position " +
                            std::to_string(fpdu.position + marker.offset) + " has FPDUPTR " +
                            std::to_string(marker.fpduptr) + ", not " + std::to_string(expected));
    }
    if (marker.reserved != 0) {
      fpdu.faults.push_back("a Marker's reserved field is not zero but " +
                            hex_number(marker.reserved, 4));
    }
  }
}

void judge_pad(Fpdu& fpdu) {
  if (std::any_of(fpdu.pad.begin(), fpdu.pad.end(), [](std::uint8_t o) { return o != 0; })) {
    fpdu.faults.push_back("the pad is not zero: " + to_hex(fpdu.pad));
  }
}

void judge_crc(Fpdu& fpdu) {
  const std::uint32_t computed = crc32c(OctetView(fpdu.wire).first(fpdu.wire.size() - kCrcSize));
  if (computed != fpdu.crc) {
    fpdu.faults.push_back("the CRC is " + hex_number(fpdu.crc, 8) + ", computed " +
                          hex_number(computed, 8));
  }
}

}  // namespace

std::uint32_t crc_in(OctetView octets) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kCrcSize; ++i) crc |= std::uint32_t{octets[i]} << (8 * i);
  return crc;
}

Octets FpduWriter::frame(OctetView ulpdu, const FpduFault& fault) {
  Octets body;
  put16(body, fault.length.value_or(static_cast<std::uint16_t>(ulpdu.size())));
  put(body, ulpdu);
  const int pad = static_cast<int>(pad_size(ulpdu.size())) + fault.pad_delta;
  body.insert(body.end(), static_cast<std::size_t>(pad), fault.pad_value);

  // The CRC covers the Markers in the FPDU, too, and comes behind one that would split it.
  Octets wire;
  std::size_t start = 0;  // of ULPDU_Length
  const auto put_marker = [&](std::size_t offset) {
    put16(wire, fault.marker_reserved);
    const auto right = static_cast<std::uint16_t>(fpduptr_of(offset, start));
    const std::uint16_t fpduptr = fault.fpduptr.value_or(right);
    put16(wire, static_cast<std::uint16_t>(fpduptr | fault.marker_low_bits));
  };
  const auto due = [&] {
    if (!framing_.markers) return false;
    const std::uint64_t at = position_ + wire.size();
    const auto shift = static_cast<std::uint64_t>(fault.marker_shift);
    return at >= shift && (at - shift) % kMarkerPeriod == 0;
  };
  if (due()) {
    start = kMarkerSize;
    put_marker(0);
  }
  for (const std::uint8_t octet : body) {
    if (due() && wire.size() > start) put_marker(wire.size());
    wire.push_back(octet);
  }
  if (due()) put_marker(wire.size());
  const std::uint32_t crc = (framing_.crc ? crc32c(wire) : 0) ^ fault.crc_xor;
  put(wire, least_significant_first(crc));
  position_ += wire.size();
  return wire;
}

std::optional<Fpdu> FpduReader::next() {
  Fpdu fpdu;
  fpdu.position = position_;
  PartTaker parts(buffer_, framing_, position_);
  Octets length;
  if (!parts.take(kLengthSize, length)) return std::nullopt;
  const std::size_t size = get16(length, 0);
  if (!parts.take(size, fpdu.ulpdu) || !parts.take(pad_size(size), fpdu.pad) ||
      !parts.take_crc(fpdu.crc)) {
    return std::nullopt;
  }
  const OctetView taken = parts.taken();
  fpdu.wire.assign(taken.begin(), taken.end());
  fpdu.markers = std::move(parts.markers);
  judge_markers(fpdu, parts.length_at());
  judge_pad(fpdu);
  if (framing_.crc) judge_crc(fpdu);
  position_ += taken.size();
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(taken.size()));
  return fpdu;
}

}  // namespace iwarp::conform
