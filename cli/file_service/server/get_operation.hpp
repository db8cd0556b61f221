#pragma once

#include <optional>
#include <string>

#include "file_service/files/stream_hasher.hpp"
#include "file_service/server/job.hpp"
#include "file_service/server/store.hpp"
#include "file_service/server/transfer_buffers.hpp"

namespace iwarp::cli::file_service {

/// The server's side of one get: writes chunk after chunk of a file into the client's memory.
class GetOperation {
 public:
  GetOperation(Link& link, BufferBudget& budget, Standing standing, Store::ReadableFile file,
               std::string name, HashKind hash);

  /// Whether a chunk's buffer is free, or none is needed any more.
  [[nodiscard]] bool can_take() const { return failed_ || buffers_.available(); }
  /// Whether there are no buffers yet, as others come first. The link is woken at the end of that.
  [[nodiscard]] bool in_line() const { return buffers_.in_line(); }
  /// A GetChunk. Precondition: can_take().
  void take_chunk(const Job& job, std::uint64_t position);
  /// An answer that carried data has been sent.
  void on_sent() { buffers_.release(); }
  /// A Finish: answers with the digest. True if the file has not changed
  /// since before its first octet was read.
  bool finish(const Job& job);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return file_.facts.size; }

 private:
  Link& link_;
  Store::ReadableFile file_;
  std::string name_;
  TransferBuffers buffers_;
  std::uint64_t sent_ = 0;  ///< Octets.
  bool failed_ = false;     ///< The file could not be read; nothing more is sent.
  StreamHasher hasher_;
};

}  // namespace iwarp::cli::file_service
