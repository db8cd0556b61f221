#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "file_service/files/fd.hpp"

namespace iwarp::cli::file_service {

/// Who may do what with a file. Set-id bits are left out, as a file that is written to loses them;
/// extended attributes other than the POSIX access control list are too.
struct FileAccess {
  uid_t owner = 0;
  gid_t group = 0;
  mode_t permissions = 0;      ///< The lower nine bits of the mode.
  std::vector<std::byte> acl;  ///< As the kernel writes it; empty if there is none.
};

/// The access of the regular file `leaf` in `directory`; none if there is nothing of that name, or
/// something else.
FileResult<std::optional<FileAccess>> access_of(const Fd& directory, const std::string& leaf);

/// Gives an open file of this process the access of another one. Owner and group stay as they are
/// where this process may not change them, and then rights that would reach other users than they
/// did are left out. At no moment the file can be reached by more users than before and after.
/// Precondition: until now only its owner may open it, or no user can.
FileResult<void> give_access(const Fd& file, const FileAccess& access);

}  // namespace iwarp::cli::file_service
