#include "wire/fpdu.hpp"

#include <algorithm>

#include "decode/layers.hpp"
#include "wire/crc32c.hpp"

namespace iwarp::conform {
namespace {

// An FPDU with its Markers taken out, as a receiver sees it.
struct Squeezed {
  Octets octets;
  std::vector<std::size_t> offsets;  // of each in the wire octets
  std::vector<Range> markers;
};

Squeezed squeeze(OctetView wire, const Framing& framing, std::uint64_t position) {
  Squeezed result;
  for (std::size_t at = 0; at < wire.size();) {
    if (framing.markers && (position + at) % kMarkerPeriod == 0) {
      const std::size_t size = std::min(kMarkerSize, wire.size() - at);
      result.markers.push_back({at, size});
      at += size;
    } else {
      result.octets.push_back(wire[at]);
      result.offsets.push_back(at++);
    }
  }
  return result;
}

std::vector<Field> decode_marker(OctetView wire, const Range& marker, std::size_t start) {
  Cursor cursor(wire.subspan(marker.offset, marker.size));
  cursor.begin_group(Part::kMarker, kMarkerSize, "Marker", "");
  const auto reserved = cursor.hex(Part::kMarker, 2, "RESERVED");
  if (reserved && *reserved != 0) cursor.irregular("not zero");
  if (const auto pointer = cursor.number(Part::kMarker, 2, "FPDUPTR")) {
    const std::size_t expected = fpduptr_of(marker.offset, start);
    cursor.field().value +=
        *pointer == 0 ? ": an FPDU starts here" : ": so many octets behind ULPDU_Length";
    if (*pointer != expected) cursor.irregular("but it is " + std::to_string(expected));
  }
  std::vector<Field> fields = cursor.take_fields();
  for (Field& field : fields) field.ranges.front().offset += marker.offset;
  return fields;
}

// Puts each Marker in front of the first field of depth 0 that begins behind it.
void insert_markers(std::vector<Field>& fields, OctetView wire, const Squeezed& squeezed) {
  const std::size_t start = squeezed.offsets.empty() ? wire.size() : squeezed.offsets.front();
  for (const Range& marker : squeezed.markers) {
    const auto behind = std::find_if(fields.begin(), fields.end(), [&](const Field& field) {
      return field.depth == 0 && field.ranges.front().offset > marker.offset;
    });
    const std::vector<Field> added = decode_marker(wire, marker, start);
    fields.insert(behind, added.begin(), added.end());
  }
}

std::size_t decode_length(Cursor& cursor) {
  const auto length = cursor.number(Part::kMpa, kLengthSize, "ULPDU_Length");
  if (!length) return 0;
  if (*length > cursor.left()) cursor.lacks("but only " + count_of(cursor.left()) + " follow");
  return *length;
}

void decode_pad(Cursor& cursor, std::size_t ulpdu) {
  const OctetView pad = cursor.octets(Part::kMpa, pad_size(ulpdu), "PAD");
  if (std::any_of(pad.begin(), pad.end(), [](std::uint8_t octet) { return octet != 0; })) {
    cursor.irregular("not zero but " + to_hex(pad));
  }
}

// The CRC covers all octets of the FPDU in front of it, Markers too.
void decode_crc(Cursor& cursor, OctetView wire, const Squeezed& squeezed, const Framing& framing) {
  if (cursor.left() < kCrcSize) {
    cursor.octets(Part::kMpa, kCrcSize, "CRC");
    return;
  }
  const std::size_t at = squeezed.offsets[squeezed.octets.size() - cursor.left()];
  const std::uint32_t crc = crc_in(cursor.octets(Part::kMpa, kCrcSize, "CRC"));
  const std::uint32_t computed = crc32c(wire.first(at));
  cursor.says(hex_number(crc, 8));
  if (!framing.crc) {
    cursor.field().value += ", not in use";
  } else if (crc == computed) {
    cursor.field().value += ", good";
  } else {
    cursor.irregular("computed " + hex_number(computed, 8));
  }
}

}  // namespace

DecodedFpdu decode_fpdu(OctetView wire, const Framing& framing, std::uint64_t position) {
  const Squeezed squeezed = squeeze(wire, framing, position);
  Cursor cursor(squeezed.octets, squeezed.offsets);
  const std::size_t length = decode_length(cursor);
  DecodedFpdu result;
  if (squeezed.octets.size() < kLengthSize) {
    result.summary = "the beginning of an FPDU";
  } else {
    cursor.limit(length);
    result.summary = decode_segment(cursor);
    cursor.lift_limit();
    decode_pad(cursor, length);
    decode_crc(cursor, wire, squeezed, framing);
    cursor.surplus(Part::kUnknown, "behind the FPDU that ULPDU_Length states");
  }
  result.fields = cursor.take_fields();
  insert_markers(result.fields, wire, squeezed);
  return result;
}

}  // namespace iwarp::conform
