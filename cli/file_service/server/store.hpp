#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "file_service/files/fd.hpp"
#include "file_service/files/file_io.hpp"
#include "file_service/files/pending_file.hpp"
#include "file_service/wire/listing_format.hpp"
#include "file_service/wire/protocol.hpp"

namespace iwarp::cli::file_service {

/// Whether a name from a peer is one: components of 1 to 255 octets joined by '/', none of them
/// '.' or '..' or reserved for temporary files, without control characters and backslashes.
bool is_safe_name(std::string_view name);

/// The status that tells a client about a failed file operation.
Status status_of(const std::error_code& error);

/// The directory that is served. Names are resolved below it by the kernel (openat2) without
/// following symbolic links. Thread-safe.
class Store {
 public:
  /// Opens the directory and removes what killed servers left in it. Throws a CommandError.
  static Store open(const std::string& path);

  struct ReadableFile {
    Fd file;
    FileFacts facts;
  };
  /// Opens a regular file; any change from now on shows in its facts.
  [[nodiscard]] FileResult<ReadableFile> open_file(std::string_view name) const;

  /// Starts a file of `size` octets that shall become `name`, in a directory that exists. Fails
  /// early if the file system has not so much room.
  [[nodiscard]] FileResult<PendingFile> create_file(std::string_view name,
                                                    std::uint64_t size) const;

  /// The served directory itself.
  [[nodiscard]] const Fd& root() const { return root_; }
  /// Opens the directory part of `name` ("" is the served directory itself) for reading.
  [[nodiscard]] FileResult<Fd> open_directory(std::string_view name) const;

 private:
  explicit Store(Fd root) : root_(std::move(root)) {}
  [[nodiscard]] FileResult<Fd> open_below(std::string_view name, std::uint64_t flags) const;

  Fd root_;
};

}  // namespace iwarp::cli::file_service
