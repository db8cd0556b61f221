#pragma once

#include <optional>
#include <string>

#include "file_service/buffer_budget.hpp"
#include "file_service/buffer_ring.hpp"
#include "file_service/job.hpp"
#include "file_service/store.hpp"
#include "file_service/stream_hasher.hpp"

namespace iwarp::cli::file_service {

/// The server's side of one get: writes chunk after chunk of a file into the client's memory.
class GetOperation {
 public:
  GetOperation(Link& link, BufferBudget& budget, Store::ReadableFile file, std::string name,
               HashKind hash);

  /// Whether a chunk's buffer is free, or none is needed any more.
  [[nodiscard]] bool can_take() const { return failed_ || ring_.available(); }
  /// A GetChunk. Precondition: can_take().
  void take_chunk(const Job& job, std::uint64_t position);
  /// An answer that carried data has been sent.
  void on_sent() { ring_.release(); }
  /// A Finish: answers with the digest. True if the file has not changed
  /// since before its first octet was read.
  bool finish(const Job& job);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return file_.facts.size; }

 private:
  Link& link_;
  Store::ReadableFile file_;
  std::string name_;
  BufferBudget::Lease lease_;
  BufferRing ring_;
  verbs::MemoryRegion region_;
  std::uint64_t sent_ = 0;  ///< Octets.
  bool failed_ = false;     ///< The file could not be read; nothing more is sent.
  StreamHasher hasher_;
};

}  // namespace iwarp::cli::file_service
