#pragma once

#include <cstdint>
#include <deque>

#include "file_service/server/buffer_budget.hpp"
#include "file_service/wire/link.hpp"
#include "file_service/wire/page_buffer.hpp"

namespace iwarp::cli::file_service {

/// The registered chunk buffers of one transfer of a server: taken and given back in the same
/// order. It begins with one, once the budget has one for it, and each that comes back brings
/// another as long as the budget allows: a client that asks for much and takes nothing gets no more
/// than the first. Not thread-safe.
class TransferBuffers {
 public:
  /// For a transfer of `size` octets. No memory is taken yet.
  TransferBuffers(Link& link, BufferBudget& budget, Standing standing, std::uint64_t size);

  /// Whether there is none yet, as others come first. The link is woken at the end of that.
  [[nodiscard]] bool in_line() const { return lease_.count() == 0; }
  [[nodiscard]] bool available() const { return taken_.size() < lease_.count(); }
  /// How many of the buffers taken so far must no longer be in use before the next take().
  [[nodiscard]] std::uint64_t must_be_done() const { return free_.empty() ? 0 : free_.front().use; }
  struct Taken {
    MutableBytes bytes;
    Stag lkey;
    [[nodiscard]] verbs::Sge sge() const {
      return {bytes.data(), static_cast<std::uint32_t>(bytes.size()), lkey};
    }
  };
  /// The first `length` octets of the next buffer. Throws a CommandError if the device has no room
  /// for it, or std::bad_alloc. Preconditions: available(), and `length` is neither beyond a chunk
  /// nor beyond the transfer.
  Taken take(std::uint64_t length);
  /// Gives the buffer back that was taken first.
  void release();

 private:
  struct Buffer {
    PageBuffer memory;
    verbs::MemoryRegion region;
    std::uint64_t use = 0;  ///< The number of its latest one, from 1 on.
  };
  Buffer make();

  Link& link_;
  BufferBudget::Lease lease_;
  std::size_t most_;
  std::size_t size_;         ///< Of each.
  std::deque<Buffer> free_;  ///< The one that came back first is the first.
  std::deque<Buffer> taken_;
  std::uint64_t uses_ = 0;
};

}  // namespace iwarp::cli::file_service
