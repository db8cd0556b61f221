#include "mpa/wire_writer.hpp"

#include <algorithm>

#include "mpa/fields.hpp"

namespace iwarp::tcp_offload::sim {

std::size_t WireWriter::write(ConstBytes host, std::size_t limit, std::vector<std::byte>& wire) {
  std::size_t used = 0;
  while (used < host.size() && limit != 0) {
    const auto [part, left] = walk_.here();
    const bool inserted = part == FpduPart::kMarker && forms_.changes_markers();
    const std::size_t size = std::min({left, limit, inserted ? left : host.size() - used});
    ConstBytes octets = host.subspan(used, inserted ? 0 : size);
    FieldOctets made{};
    if (inserted) made = marker_octets_of(walk_.marker_pointer());
    const bool computed = part == FpduPart::kCrc && forms_.changes_crc();
    if (computed) made = crc_octets_of(crc_);
    if (inserted || computed) octets = ConstBytes(made).subspan(made.size() - left, size);
    if (!inserted) used += size;
    limit -= size;
    wire.insert(wire.end(), octets.begin(), octets.end());
    if (part != FpduPart::kCrc) crc_.update(octets);
    walk_.pass(octets);
    if (part == FpduPart::kCrc && walk_.between_fpdus()) crc_ = {};
  }
  return used;
}

}  // namespace iwarp::tcp_offload::sim
