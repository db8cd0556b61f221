#pragma once

#include <cstdint>

#include "file_service/fd.hpp"
#include "iwarp/base/bytes.hpp"

namespace iwarp::cli::file_service {

/// Reads up to `into.size()` octets at `position`; fewer only at the end of the file.
FileResult<std::size_t> read_at(const Fd& file, MutableBytes into, std::uint64_t position);

/// Writes all of `bytes` at `position`.
FileResult<void> write_at(const Fd& file, ConstBytes bytes, std::uint64_t position);

/// Size and time of last change of an open file.
struct FileFacts {
  std::uint64_t size = 0;
  std::int64_t modified_seconds = 0;
  std::int64_t modified_nanoseconds = 0;

  bool operator==(const FileFacts&) const = default;
};

/// The facts of a regular file; is_a_directory or no_such_device for anything else.
FileResult<FileFacts> regular_file_facts(const Fd& file);

}  // namespace iwarp::cli::file_service
