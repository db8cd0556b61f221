#pragma once

#include <cstddef>
#include <memory>

#include "iwarp/base/of_thread.hpp"
#include "iwarp/connection/batch.hpp"
#include "iwarp/connection/inbound.hpp"
#include "iwarp/mpa/fpdu.hpp"
#include "iwarp/process/memory_faults.hpp"

namespace iwarp::verbs::soft {

/// The buffers that moving data takes. They belong to the thread that drives, not to a queue pair:
/// what is staged is still in the cache when it is placed, and an idle connection holds nothing.
struct Scratch {
  static constexpr std::size_t kReadSize = std::size_t{512} * 1024;
  static constexpr std::size_t kStagingSize = kReadSize + mpa::kMaxFpduWireSize;

  Scratch() : staging(new std::byte[kStagingSize]) {
    process::admit_memory_faults();  // the thread is about to use memory of the program
  }

  /// The calling thread's own. Throws as OfThread.
  static Scratch& of_thread() { return OfThread<Scratch>::get(); }

  std::unique_ptr<std::byte[]> staging;
  connection::Batch batch;
  connection::InboundEvents events;
};

}  // namespace iwarp::verbs::soft
