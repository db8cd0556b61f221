#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "iwarp/base/gather_list.hpp"
#include "iwarp/base/of_thread.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/rdmap/transmitter.hpp"
#include "iwarp/tcp_offload/memory_faults.hpp"

namespace iwarp::verbs::soft {

/// One FPDU of a batch that is being sent: where the stream stands behind it.
struct PlannedFpdu {
  std::size_t end = 0;  ///< Octets of the batch up to and with it.
  rdmap::Transmitter::Cursor cursor;
  mpa::Framer framer{mpa::Crc::kOn, mpa::Markers::kOff};
  rdmap::Source source = rdmap::Source::kNone;
  std::uint32_t request = 0;    ///< The request it belongs to, if that is its source,
  bool closes_request = false;  ///< and whether it is the last of it.
};

/// The buffers that moving data takes. They belong to the thread that drives, not to a queue pair:
/// what is staged is still in the cache when it is placed, and an idle connection holds nothing.
struct Scratch {
  static constexpr std::size_t kReadSize = std::size_t{256} * 1024;
  static constexpr std::size_t kStagingSize = kReadSize + mpa::kMaxFpduWireSize;
  static constexpr std::size_t kArenaSize = std::size_t{512} * 1024;
  static constexpr std::size_t kMaxPieces = 768;
  static constexpr std::size_t kMaxFpdus = 256;

  Scratch() : staging(new std::byte[kStagingSize]), gather(kArenaSize, kMaxPieces) {
    tcp_offload::admit_memory_faults();  // the thread is about to use memory of the program
    planned.reserve(kMaxFpdus);
    pins.reserve(kMaxPieces);
  }

  /// The calling thread's own. Throws as OfThread.
  static Scratch& of_thread() { return OfThread<Scratch>::get(); }

  void clear() {
    gather.clear();
    planned.clear();
    pins.clear();
  }
  /// Makes anew what a stream has kept.
  void renew() {
    gather = GatherList(kArenaSize, kMaxPieces);
    pins = std::vector<ddp::StagTable::Pin>();
  }

  std::unique_ptr<std::byte[]> staging;
  GatherList gather;
  std::vector<PlannedFpdu> planned;
  std::vector<ddp::StagTable::Pin> pins;  // memory that the gather list refers to
  rdmap::Transmitter::Cursor before;      // where the stream stood before the batch
  mpa::Framer framer_before{mpa::Crc::kOn, mpa::Markers::kOff};
};

}  // namespace iwarp::verbs::soft
