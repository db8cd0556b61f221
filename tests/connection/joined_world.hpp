#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "connection/peer.hpp"
#include "rdmap/loopback_world.hpp"

namespace iwarp::test {

/// Two connection cores joined by two streams of octets: TCP accepts some of what it is offered,
/// releases it later, and lets it arrive in pieces of any size. CRC and Markers are chosen at
/// random.
class JoinedWorld : public World {
 public:
  explicit JoinedWorld(std::uint64_t seed);

  /// The end of a side.
  [[nodiscard]] Peer& end(const Side& side) { return *ends_[index_of(side)].peer; }

 protected:
  void transmit(Side& from) override;
  void convey(Side& from, Side& to) override;
  bool silent(Side& side) override;

 private:
  struct End {
    std::unique_ptr<Peer> peer;
    Octets stream;                  // sent and not arrived
    std::uint64_t writes_seen = 0;  // of the other side
    bool releases_late = false;
  };
  [[nodiscard]] std::size_t index_of(const Side& side) const;
  void check_prefix(Peer& from, const Octets& left);
  void release(End& end);
  void take_in(Side& to, ConstBytes octets);

  End ends_[2];
};

}  // namespace iwarp::test
