#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "file_service/client/client.hpp"
#include "file_service/files/file_io.hpp"
#include "file_service/files/pending_file.hpp"
#include "file_service/wire/protocol.hpp"

/// The client's side of put, get and list. Failures are CommandErrors.
namespace iwarp::cli::file_service {

/// What a transfer is about.
struct Subject {
  std::string name;   ///< On the server.
  std::string url;    ///< As the person wrote it.
  std::string local;  ///< The local file.
};

/// Is told how many of how many octets have arrived.
using ProgressSink = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// What came out.
struct TransferResult {
  std::uint64_t bytes = 0;
  std::optional<Digest> sha256;
};

/// Makes the server read `file` from this process' memory. Returns when the file is on the server's
/// disk under its name.
TransferResult upload(Client& client, const Fd& file, const Subject& subject, HashKind hash,
                      const ProgressSink& progress);

/// Has the server write a file into this process' memory and stores it in `file`, which still has
/// to be published.
TransferResult download(Client& client, PendingFile& file, const Subject& subject, HashKind hash,
                        const ProgressSink& progress);

}  // namespace iwarp::cli::file_service
