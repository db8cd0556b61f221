#pragma once

#include <cstdint>

#include "rdma_core.hpp"

namespace iwarp::rnic {

struct WorkSlot;

/// The queue that a work request was posted to, as completions see it.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  /// The adapter has completed the request in this slot, as `wc` says. Called with the lock of the
  /// completion queue held. False if this is known already: the program is told once.
  virtual bool complete(WorkSlot& slot, const ibv_wc& wc) = 0;
};

/// When the program is told of a work request's end.
enum class Told : std::uint8_t {
  kNever,       ///< The request is this stack's own.
  kWhenFailed,  ///< It was posted as one that is not signaled.
  kAlways,
};

/// A work request that the adapter has: what its completion is to say. The adapter gets its address
/// in place of the program's number.
struct WorkSlot {
  SlotOwner* owner = nullptr;
  std::uint64_t wr_id = 0;     ///< The program's.
  std::uint32_t position = 0;  ///< In its queue, counted from 0.
  Told told = Told::kAlways;
  bool signaled = true;  ///< Whether the adapter tells of it when it succeeds.
  bool done = false;     ///< Whether the adapter has told of it.
  /// Whether its completion has a place reserved: CompletionQueue::reserve().
  bool swallowed = false;
};

}  // namespace iwarp::rnic
