#pragma once

#include <deque>
#include <optional>
#include <string>

#include "file_service/files/pending_file.hpp"
#include "file_service/files/stream_hasher.hpp"
#include "file_service/server/job.hpp"
#include "file_service/server/transfer_buffers.hpp"

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
  PutOperation(Link& link, BufferBudget& budget, Standing standing, PendingFile file,
               Target target);

  /// Whether a chunk's buffer is free.
  [[nodiscard]] bool can_take() const { return buffers_.available(); }
  /// Whether there are no buffers yet, as others come first. The link is woken at the end of that.
  [[nodiscard]] bool in_line() const { return buffers_.in_line(); }
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
  TransferBuffers buffers_;
  PendingFile file_;
  std::deque<Chunk> reading_;
  std::uint64_t announced_ = 0;  ///< Octets of all chunks so far.
  std::uint64_t stored_ = 0;     ///< Octets in the file.
  std::optional<std::error_code> failed_;
  StreamHasher hasher_;
};

}  // namespace iwarp::cli::file_service
