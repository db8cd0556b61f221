#include "wire/fpdu.hpp"

#include <algorithm>
#include <array>

#include "wire/crc32c.hpp"

namespace iwarp::conform {
namespace {

constexpr std::uint64_t kMarkerPeriod = 512;
constexpr std::size_t kMarkerSize = 4, kLengthSize = 2, kCrcSize = 4;

std::size_t pad_of(std::size_t ulpdu) { return (4 - (kLengthSize + ulpdu) % 4) % 4; }

Octets least_significant_first(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
          static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
}

// What a Marker `offset` octets into an FPDU says: how far behind its ULPDU_Length the Marker lies,
// 0 if the Marker stands right in front of it (RFC 5044 §4.3).
std::uint16_t fpduptr_at(std::size_t offset, std::size_t start) {
  return static_cast<std::uint16_t>(offset < start ? 0 : offset - start);
}

}  // namespace

Octets FpduWriter::frame(OctetView ulpdu, const FpduFault& fault) {
  Octets body;
  put16(body, fault.length.value_or(static_cast<std::uint16_t>(ulpdu.size())));
  put(body, ulpdu);
  body.insert(body.end(),
              static_cast<std::size_t>(static_cast<int>(pad_of(ulpdu.size())) + fault.pad_delta),
              fault.pad_value);

  // The CRC covers the Markers in the FPDU, too, and comes behind one that would split it.
  Octets wire;
  std::size_t start = 0;  // of ULPDU_Length
  const auto put_marker = [&](std::size_t offset) {
    put16(wire, fault.marker_reserved);
    const std::uint16_t fpduptr = fault.fpduptr.value_or(fpduptr_at(offset, start));
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
  std::size_t at = 0;
  const auto marker_due = [&] { return framing_.markers && (position_ + at) % kMarkerPeriod == 0; };
  std::optional<std::size_t> start;  // of ULPDU_Length, in buffer_
  Octets covered;                    // without Markers
  // Takes `count` octets that are not Markers, false if they have not come yet.
  const auto take = [&](std::size_t count, Octets& into) {
    while (count > 0) {
      if (marker_due()) {
        if (buffer_.size() < at + kMarkerSize) return false;
        fpdu.markers.push_back({at, get16(buffer_, at), get16(buffer_, at + 2)});
        at += kMarkerSize;
        continue;
      }
      if (!start) start = at;
      if (buffer_.size() <= at) return false;
      into.push_back(buffer_[at++]);
      --count;
    }
    return true;
  };
  Octets length, crc;
  if (!take(kLengthSize, length)) return std::nullopt;
  const std::uint16_t size = get16(length, 0);
  if (!take(size, fpdu.ulpdu) || !take(pad_of(size), fpdu.pad)) return std::nullopt;
  if (marker_due()) {
    if (buffer_.size() < at + kMarkerSize) return std::nullopt;
    fpdu.markers.push_back({at, get16(buffer_, at), get16(buffer_, at + 2)});
    at += kMarkerSize;
  }
  const std::size_t crc_at = at;
  if (buffer_.size() < at + kCrcSize) return std::nullopt;
  for (std::size_t i = 0; i < kCrcSize; ++i) {
    fpdu.crc |= std::uint32_t{buffer_[at++]} << (8 * i);
  }

  fpdu.wire.assign(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
  for (const Fpdu::Marker& marker : fpdu.markers) {
    const std::uint16_t expected = fpduptr_at(marker.offset, *start);
    if (marker.fpduptr != expected) {
      fpdu.faults.push_back("the Marker at stream position " +
                            std::to_string(position_ + marker.offset) + " has FPDUPTR " +
                            std::to_string(marker.fpduptr) + ", not " + std::to_string(expected));
    }
    if (marker.reserved != 0) {
      fpdu.faults.push_back("a Marker's reserved field is not zero but " +
                            hex_number(marker.reserved, 4));
    }
  }
  if (std::any_of(fpdu.pad.begin(), fpdu.pad.end(), [](std::uint8_t o) { return o != 0; })) {
    fpdu.faults.push_back("the pad is not zero: " + to_hex(fpdu.pad));
  }
  if (framing_.crc) {
    const std::uint32_t computed = crc32c(OctetView(fpdu.wire).first(crc_at));
    if (computed != fpdu.crc) {
      fpdu.faults.push_back("the CRC is " + hex_number(fpdu.crc, 8) + ", computed " +
                            hex_number(computed, 8));
    }
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
  position_ += at;
  return fpdu;
}

}  // namespace iwarp::conform
