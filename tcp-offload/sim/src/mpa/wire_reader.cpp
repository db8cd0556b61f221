#include "mpa/wire_reader.hpp"

#include <algorithm>

#include "mpa/fields.hpp"

namespace iwarp::tcp_offload::sim {
namespace {

// What is left of a field tells where in it the octets are.
std::size_t offset_of(const FpduRun& run) { return FieldOctets().size() - run.left; }

}  // namespace

void WireReader::read(ConstBytes wire) {
  while (!wire.empty() && !error_) {
    const FpduRun run = walk_.here();
    const ConstBytes octets = wire.first(std::min(run.left, wire.size()));
    wire = wire.subspan(octets.size());
    look(run, octets);
    walk_.pass(octets);
    if (run.part == FpduPart::kCrc && walk_.between_fpdus()) end_fpdu();
  }
}

void WireReader::look(FpduRun run, ConstBytes octets) {
  if (run.part != FpduPart::kCrc) crc_.update(octets);
  if (run.part == FpduPart::kMarker && forms_.changes_markers()) {
    check_marker(offset_of(run), octets);
  } else if (run.part == FpduPart::kCrc && forms_.changes_crc()) {
    check_crc(offset_of(run), octets);
    begun_.resize(begun_.size() + octets.size());
  } else {
    begun_.insert(begun_.end(), octets.begin(), octets.end());
  }
}

void WireReader::check_marker(std::size_t at, ConstBytes octets) {
  const FieldOctets wanted = marker_octets_of(walk_.marker_pointer());
  for (const std::byte octet : octets) {
    if ((octet & kMarkerBits[at]) != wanted[at]) markers_match_ = false;
    ++at;
  }
}

void WireReader::check_crc(std::size_t at, ConstBytes octets) {
  const FieldOctets wanted = crc_octets_of(crc_);
  if (!std::equal(octets.begin(), octets.end(), wanted.begin() + static_cast<int>(at))) {
    crc_matches_ = false;
  }
}

void WireReader::end_fpdu() {
  crc_ = {};
  if (!crc_matches_) error_ = Error::kBadCrc;
  if (crc_matches_ && !markers_match_) error_ = Error::kBadMarker;
  if (!error_) good_.insert(good_.end(), begun_.begin(), begun_.end());
  begun_.clear();
}

}  // namespace iwarp::tcp_offload::sim
