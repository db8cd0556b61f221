#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/strong_id.hpp"

namespace iwarp::rdmap {

/// RDMA Read Request Header (RFC 5040 §4.4).
struct ReadRequest {
  static constexpr std::size_t kSize = 28;  ///< Octets on the wire.

  Stag sink_stag;          ///< Where the response goes.
  TaggedOffset sink_to;    ///< Where in that buffer.
  std::uint32_t size = 0;  ///< RDMARDSZ, octets.
  Stag source_stag;        ///< What is read.
  TaggedOffset source_to;  ///< Where in that buffer.

  /// Writes kSize octets.
  void encode(std::byte* at) const;
  /// Reads exactly kSize octets; nothing if there are fewer or more.
  static std::optional<ReadRequest> parse(ConstBytes bytes);
  bool operator==(const ReadRequest&) const = default;
};

}  // namespace iwarp::rdmap
