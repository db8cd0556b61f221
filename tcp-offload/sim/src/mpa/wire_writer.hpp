#pragma once

#include <cstddef>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/crc32c.hpp"
#include "mpa/fpdu_walk.hpp"
#include "mpa/wire_form.hpp"

namespace iwarp::tcp_offload::sim {

/// Makes of the host's FPDUs those that go onto the wire: puts in Markers and CRCs, octet by octet,
/// so that an FPDU need not be there as a whole. A copy is a snapshot: what was made of octets
/// that the wire did not take is made again by an older one.
class WireWriter {
 public:
  explicit WireWriter(const FpduForms& forms) : forms_(forms), walk_(forms.wire.markers) {}

  /// Goes on with `host`, until at most `limit` octets of the wire have been appended to `wire`;
  /// returns how many octets of the host these are. A Marker is due only in front of an octet:
  /// there is none behind the last of the host's.
  std::size_t write(ConstBytes host, std::size_t limit, std::vector<std::byte>& wire);

 private:
  FpduForms forms_;
  FpduWalk walk_;
  Crc32c crc_;  // of what has been written of the FPDU
};

}  // namespace iwarp::tcp_offload::sim
