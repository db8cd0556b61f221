#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "iwarp/sim/options.hpp"
#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::tcp_offload {

namespace sim {
class Link;
class Pipe;
}  // namespace sim

/// The two ends of a simulated connection.
enum class SimSide { kConnector, kAcceptor };

/// One direction of a simulated connection, as a handle to inject faults with. Offsets count the
/// octets of this direction from 0 at the beginning of the connection, streaming mode included.
/// Valid as long as the network.
class SimDirection {
 public:
  /// The network makes these.
  explicit SimDirection(sim::Pipe& pipe) : pipe_(&pipe) {}

  /// Octets taken from the sender.
  [[nodiscard]] std::uint64_t accepted() const;
  /// Octets that have reached the receiver's device.
  [[nodiscard]] std::uint64_t arrived() const;

  /// Inverts the bits of `mask` in the octet at `offset` when it arrives. No effect on octets that
  /// have arrived already.
  void corrupt_at(std::uint64_t offset, std::byte mask = std::byte{0x01});
  /// Inverts one random bit of one random octet in [first, last); returns its offset. Precondition:
  /// first < last.
  std::uint64_t corrupt_within(std::uint64_t first, std::uint64_t last);
  /// Resets the connection, for both ends, in place of the arrival of the octet at `offset`; at
  /// once if that has arrived already.
  void reset_at(std::uint64_t offset);
  /// Lets nothing arrive before `duration` has passed, counted from now.
  void stall_for(std::chrono::nanoseconds duration);
  /// The same, counted from when the octet at `offset` would have arrived.
  void stall_at(std::uint64_t offset, std::chrono::nanoseconds duration);
  /// Changes the segments sent from now on.
  void set_segments(SimRange payload);
  /// Changes the sender's EMSS from now on; at least 1.
  void set_emss(std::size_t octets);

 private:
  sim::Pipe* pipe_;
};

/// A simulated connection, as a handle. Valid as long as the network.
class SimLink {
 public:
  /// The network makes these.
  explicit SimLink(sim::Link& link) : link_(&link) {}

  /// The direction of the octets that `sender` sends.
  [[nodiscard]] SimDirection from(SimSide sender) const;
  /// The address and port of one side.
  [[nodiscard]] Endpoint endpoint(SimSide side) const;
  /// Resets the connection now: both ends answer kLost with std::errc::connection_reset.
  void reset();

 private:
  sim::Link* link_;
};

}  // namespace iwarp::tcp_offload
