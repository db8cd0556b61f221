#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_service/wire/protocol.hpp"

/// The entries that a List writes into the client's buffer, one behind the other.
namespace iwarp::cli::file_service {

/// One name in a directory.
struct ListEntry {
  enum class Kind : std::uint8_t { kFile = 0, kDirectory = 1 };
  Kind kind = Kind::kFile;
  std::uint64_t size = 0;     ///< Octets; 0 for a directory.
  std::int64_t modified = 0;  ///< Seconds since 1970.
  std::string name;           ///< From the served directory on, without a '/' at the end.

  bool operator==(const ListEntry&) const = default;
};

/// Appends `entry` at the front of `room` and shortens it; false, and nothing done, if it does not
/// fit. Precondition: the name is 1 to kMaxName octets.
bool append_entry(MutableBytes& room, const ListEntry& entry);

/// All entries of a page; a page that is cut off inside an entry is an error.
Result<std::vector<ListEntry>, ParseError> parse_entries(ConstBytes page);

}  // namespace iwarp::cli::file_service
