#include "file_service/wire/listing_format.hpp"

#include <cstring>

namespace iwarp::cli::file_service {
namespace {

constexpr std::size_t kSizeAt = 0;
constexpr std::size_t kModifiedAt = 8;
constexpr std::size_t kKindAt = 16;
constexpr std::size_t kNameLengthAt = 18;
constexpr std::size_t kHeader = 20;

}  // namespace

bool append_entry(MutableBytes& room, const ListEntry& entry) {
  const std::size_t length = kHeader + entry.name.size();
  if (room.size() < length) return false;
  store_be<std::uint64_t>(room.data() + kSizeAt, entry.size);
  store_be<std::uint64_t>(room.data() + kModifiedAt, static_cast<std::uint64_t>(entry.modified));
  room[kKindAt] = static_cast<std::byte>(entry.kind);
  room[kKindAt + 1] = std::byte{0};
  store_be<std::uint16_t>(room.data() + kNameLengthAt,
                          static_cast<std::uint16_t>(entry.name.size()));
  std::memcpy(room.data() + kHeader, entry.name.data(), entry.name.size());
  room = room.subspan(length);
  return true;
}

Result<std::vector<ListEntry>, ParseError> parse_entries(ConstBytes page) {
  std::vector<ListEntry> entries;
  while (!page.empty()) {
    if (page.size() < kHeader) return failure(ParseError::kTruncated);
    const std::size_t length = load_be<std::uint16_t>(page.data() + kNameLengthAt);
    if (length == 0 || length > kMaxName) return failure(ParseError::kBadPayload);
    if (page.size() < kHeader + length) return failure(ParseError::kTruncated);
    if (page[kKindAt] > std::byte{1}) return failure(ParseError::kBadPayload);
    entries.push_back({static_cast<ListEntry::Kind>(page[kKindAt]),
                       load_be<std::uint64_t>(page.data() + kSizeAt),
                       static_cast<std::int64_t>(load_be<std::uint64_t>(page.data() + kModifiedAt)),
                       {reinterpret_cast<const char*>(page.data() + kHeader), length}});
    page = page.subspan(kHeader + length);
  }
  return entries;
}

}  // namespace iwarp::cli::file_service
