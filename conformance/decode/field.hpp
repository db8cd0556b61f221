#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace iwarp::conform {

/// Octets of the wire that stand together.
struct Range {
  std::size_t offset = 0, size = 0;
  bool operator==(const Range&) const = default;
};

/// Whose octets they are; the page colours them by it.
enum class Part { kMpa, kMarker, kDdp, kRdmap, kPayload, kUnknown };

/// Octets that mean something together, with the meaning. The fields of depth 0 cover each octet of
/// an event exactly once, in order; a deeper one tells more about the last field above it that is
/// one less deep.
struct Field {
  Part part = Part::kUnknown;
  int depth = 0;
  std::string name;             ///< As in the RFC.
  std::string value{};          ///< With its meaning, such as "3: Send".
  std::string bits{};           ///< Such as "01.. ....", if it is some bits of its octets.
  std::vector<Range> ranges{};  ///< Several if a Marker interrupts it; never empty.
  bool irregular = false;       ///< No sender that obeys the RFCs sends this.
};

}  // namespace iwarp::conform
