#pragma once

#include <deque>
#include <optional>
#include <string>

#include "file_service/buffer_budget.hpp"
#include "file_service/buffer_ring.hpp"
#include "file_service/job.hpp"
#include "file_service/pending_file.hpp"
#include "file_service/stream_hasher.hpp"

namespace iwarp::cli::file_service {

/// The server's side of one put: reads chunk after chunk out of the client's memory into the
/// pending file. Destroyed before the commit it leaves nothing behind.
class PutOperation {
 public:
  struct Target {
    std::string name;
    std::uint64_t size = 0;
    HashKind hash = HashKind::kNone;
  };
  PutOperation(Link& link, BufferBudget& budget, PendingFile file, Target target);

  /// Whether a chunk's buffer is free.
  [[nodiscard]] bool can_take() const { return ring_.available(); }
  /// Whether RDMA Reads are under way.
  [[nodiscard]] bool reading() const { return !reading_.empty(); }
  /// A PutChunk. Precondition: can_take().
  void take_chunk(const Job& job, std::uint64_t position);
  /// The oldest RDMA Read is complete.
  void on_read();
  /// A Commit: verifies, puts the file on the disk under its name, answers. True if it did.
  bool commit(const Job& job, const RequestView& request);

  [[nodiscard]] const Target& target() const { return target_; }

 private:
  struct Chunk {
    Job job;
    std::uint64_t position = 0;
    MutableBytes bytes;
  };
  [[nodiscard]] FileResult<void> sync();
  /// Throws if the client has gone, in which case the file must not appear, or goes on asking.
  void expect_silence();

  Link& link_;
  Target target_;
  BufferBudget::Lease lease_;
  BufferRing ring_;
  verbs::MemoryRegion region_;
  PendingFile file_;
  std::deque<Chunk> reading_;
  std::uint64_t announced_ = 0;  ///< Octets of all chunks so far.
  std::uint64_t stored_ = 0;     ///< Octets in the file.
  std::optional<std::error_code> failed_;
  StreamHasher hasher_;
};

}  // namespace iwarp::cli::file_service
