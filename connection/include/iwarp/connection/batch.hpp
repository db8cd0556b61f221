#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "iwarp/base/gather_list.hpp"
#include "iwarp/ddp/stag_table.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/rdmap/transmitter.hpp"

namespace iwarp::connection {

/// The FPDUs of one gathering write, and the room that they take: half a megabyte. It belongs to
/// the thread that sends, not to a connection, so that an idle connection holds nothing and what is
/// copied stays in the cache. A connection uses it from Outbound::offer() to Outbound::sent(). Not
/// thread-safe.
class Batch {
 public:
  /// The most FPDUs that it takes.
  static constexpr std::size_t kMostFpdus = 256;
  /// The most elements of a gather list.
  static constexpr std::size_t kMaxSges = 16;

  /// Allocates the room.
  Batch();

  /// The octets, in order; valid until the batch is used again.
  [[nodiscard]] std::span<const iovec> pieces() const { return gather_.pieces(); }
  /// How many octets they are.
  [[nodiscard]] std::size_t size() const { return gather_.size(); }
  /// Forgets the octets and lets the memory go that they were to be read from: a deregistration may
  /// be waiting for it.
  void clear();

 private:
  friend class Outbound;

  /// Where the outbound half stands behind an FPDU.
  struct Position {
    rdmap::Transmitter::Cursor cursor;
    mpa::Framer framer{mpa::Crc::kOn, mpa::Markers::kOff};
  };
  /// An FPDU that is offered.
  struct Planned {
    std::size_t end = 0;  // octets of the batch up to and with it
    Position behind;
    rdmap::Source source = rdmap::Source::kNone;
    std::uint32_t request = 0;    // that it belongs to, if that is its source,
    bool closes_request = false;  // and whether it is the last of it
  };

  /// The payload of the FPDU that is being made, where it lies.
  struct Payload {
    std::vector<ConstBytes> pieces;
    mpa::PayloadUse use = mpa::PayloadUse::kCopy;
  };

  /// Gives the room away, for a stream that still reads from it, and makes it anew. If that throws,
  /// nothing has changed.
  void swap_room(GatherList& gather, std::vector<ddp::StagTable::Pin>& pins);

  GatherList gather_;
  std::vector<Planned> planned_;
  std::vector<ddp::StagTable::Pin> pins_;  // memory that the gather list refers to
  Payload payload_;
  Position before_;  // where the half stood before the first FPDU
};

}  // namespace iwarp::connection
