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

/// The FPDUs of one gathering write, and the room that they take: a little over a megabyte, as TCP
/// moves more the more it is given at once. It belongs to the thread that sends, not to a
/// connection, so that an idle connection holds nothing. A connection uses it from
/// Outbound::offer() to Outbound::sent(). Not thread-safe.
class Batch {
 public:
  /// The most FPDUs that it takes.
  static constexpr std::size_t kMostFpdus = 1024;
  /// Octets with which it is full: no further FPDU begins behind so many.
  static constexpr std::size_t kMostOctets = std::size_t{1024} * 1024;
  /// The most elements of a gather list.
  static constexpr std::size_t kMaxSges = 16;

  /// Allocates the room.
  Batch();

  /// The octets, in order; valid until the batch is used again.
  [[nodiscard]] std::span<const iovec> pieces() const { return gather_.pieces(); }
  /// How many octets they are.
  [[nodiscard]] std::size_t size() const { return gather_.size(); }
  /// How many FPDUs they are, and in how many runs they were planned.
  [[nodiscard]] std::size_t fpdus() const { return fpdus_; }
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }  ///< See fpdus().
  /// How many times memory was pinned for them.
  [[nodiscard]] std::size_t pins() const { return pins_.size(); }
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
  /// A run of FPDUs that are offered, of the same size, but for Markers: of one message and without
  /// its last, or the last of one message, or short messages, an FPDU each.
  struct Run {
    Position before;
    std::size_t end = 0;       // octets of the batch up to and with its last FPDU
    std::size_t ulpdu = 0;     // octets of each of them, with the header,
    std::uint32_t length = 0;  // and without
    std::uint32_t count = 0;   // FPDUs
    rdmap::Source source = rdmap::Source::kNone;
    std::uint32_t request = 0;    // that the first belongs to, if that is its source,
    bool closes_request = false;  // and whether each is the last of one
    bool numbered = false;        // each has an MSN of its own if it is one
  };

  /// The payload of the run that is being made, where it lies.
  class Payload {
   public:
    Payload();
    void clear();
    void add(ConstBytes piece) { pieces_.push_back(piece); }
    /// The next `octets`, in order; valid until the next call. Precondition: there are so many.
    std::span<const ConstBytes> take(std::size_t octets);
    mpa::PayloadUse use = mpa::PayloadUse::kCopy;

   private:
    std::vector<ConstBytes> pieces_;
    std::size_t first_ = 0;  // of the pieces that something is left of
    std::vector<ConstBytes> taken_;
  };

  /// Gives the room away, for a stream that still reads from it, and makes it anew. If that throws,
  /// nothing has changed.
  void swap_room(GatherList& gather, std::vector<ddp::StagTable::Pin>& pins);

  GatherList gather_;
  std::vector<Run> runs_;
  std::size_t fpdus_ = 0;                  // of all runs
  std::vector<ddp::StagTable::Pin> pins_;  // memory that the gather list refers to
  Payload payload_;
};

}  // namespace iwarp::connection
