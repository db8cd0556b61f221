#pragma once

#include <compare>
#include <cstdint>

#include "file_service/files/fd.hpp"
#include "iwarp/base/bytes.hpp"

namespace iwarp::cli::file_service {

/// Reads up to `into.size()` octets at `position`; fewer only at the end of the file.
FileResult<std::size_t> read_at(const Fd& file, MutableBytes into, std::uint64_t position);

/// Writes all of `bytes` at `position`.
FileResult<void> write_at(const Fd& file, ConstBytes bytes, std::uint64_t position);

/// A time as file systems keep it, since 1970.
struct FileTime {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;

  auto operator<=>(const FileTime&) const = default;
};

/// Which file is open and when it changed last. A program can put the time of modification back,
/// but not the time of change, which the kernel sets at each write, truncation and change of the
/// inode. Stores through a mapping are seen only where they make a clean page dirty.
struct FileFacts {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  FileTime modified;
  FileTime changed;

  bool operator==(const FileFacts&) const = default;
};

/// The facts of a regular file; is_a_directory or no_such_device for anything else.
FileResult<FileFacts> regular_file_facts(const Fd& file);

/// The same, for a comparison after the file has been read: returns when the clock by which the
/// kernel stamps files has passed the time of change, so that no later change has the same one.
/// Waits for a tick of that clock at most, 10 ms.
FileResult<FileFacts> settled_file_facts(const Fd& file);

}  // namespace iwarp::cli::file_service
