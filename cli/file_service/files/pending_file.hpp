#pragma once

#include <optional>
#include <string>

#include "file_service/files/fd.hpp"
#include "file_service/files/file_access.hpp"
#include "iwarp/base/bytes.hpp"

namespace iwarp::cli::file_service {

/// What temporary names start with. Such names are never listed, got or put.
inline constexpr const char* kTemporaryPrefix = ".iwarp-partial-";

/// A file under construction, which has no name (O_TMPFILE) or, where the file system cannot do
/// that, a temporary one. Destroyed before publish() has succeeded it leaves nothing behind.
/// In place of a regular file it gets that file's permissions, access control list and, as far as
/// this process may give them away, owner and group; until then only its owner may open it.
/// Otherwise it has what the umask leaves of 0666.
class PendingFile {
 public:
  /// Starts a file that shall become `leaf` in `directory`, a descriptor opened for reading.
  static FileResult<PendingFile> create(Fd directory, std::string leaf);

  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&&) = delete;
  ~PendingFile();

  /// Writes at `position`, which is behind everything written so far.
  FileResult<void> append(ConstBytes bytes, std::uint64_t position);
  /// Puts the content on the disk, with the access that it shall have. May take long.
  FileResult<void> sync();
  /// Gives the file its name, in place of a file that has it, and puts the name on the disk.
  /// After sync().
  FileResult<void> publish();

 private:
  PendingFile(Fd directory, std::string leaf)
      : directory_(std::move(directory)), leaf_(std::move(leaf)) {}
  [[nodiscard]] mode_t first_mode() const;
  FileResult<void> open_unnamed();
  FileResult<void> open_named();
  FileResult<void> look_at_replaced();
  FileResult<void> take_over_access();
  [[nodiscard]] FileResult<void> link_as(const std::string& name) const;
  FileResult<void> give_temporary_name();
  [[nodiscard]] FileResult<void> sync_directory() const;

  Fd directory_;
  Fd file_;
  std::string leaf_;
  std::string temporary_;               ///< Empty while the file has no name.
  std::optional<FileAccess> replaced_;  ///< Of the file that had the name last.
};

/// Removes what a killed process left in `directory` and below: files with the prefix that no
/// living process holds. Symbolic links are not followed; what cannot be looked at is skipped.
void remove_stale_files(const Fd& directory);

}  // namespace iwarp::cli::file_service
