#pragma once

#include <infiniband/verbs.h>

#include <compare>
#include <cstring>
#include <optional>
#include <vector>

#include "iwarp/base/bytes.hpp"

namespace iwarp::compat {

/// One end of a connection that programs make without rdma_cm: a GID and a queue pair number.
struct QpIdentity {
  ibv_gid gid{};
  std::uint32_t qp_number = 0;

  friend bool operator==(const QpIdentity& a, const QpIdentity& b) {
    return a.qp_number == b.qp_number && std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid.raw) == 0;
  }
  /// Of two ends the lesser connects, the other waits.
  friend bool operator<(const QpIdentity& a, const QpIdentity& b) {
    const int gids = std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid.raw);
    return gids != 0 ? gids < 0 : a.qp_number < b.qp_number;
  }
};

/// What the connecting end says of itself, as MPA Private Data: who calls whom.
struct Greeting {
  QpIdentity from, to;
};

std::vector<std::byte> encode(const Greeting& greeting);
/// None if these octets are none, or of another version.
std::optional<Greeting> decode_greeting(ConstBytes octets);

}  // namespace iwarp::compat
