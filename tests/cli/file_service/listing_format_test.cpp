#include "file_service/wire/listing_format.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli::file_service {
namespace {

const std::vector<ListEntry> kEntries{
    {ListEntry::Kind::kFile, 0x123456789ABC, 1'700'000'000, "dir/file"},
    {ListEntry::Kind::kDirectory, 0, -5, "d"},
    {ListEntry::Kind::kFile, UINT64_MAX, INT64_MIN, std::string(kMaxName, 'n')}};

std::vector<std::byte> page_of(const std::vector<ListEntry>& entries) {
  std::vector<std::byte> page(1U << 16);
  MutableBytes room(page);
  for (const ListEntry& entry : entries) EXPECT_TRUE(append_entry(room, entry));
  page.resize(page.size() - room.size());
  return page;
}

TEST(Listing, SurvivesARoundTrip) {
  const auto parsed = parse_entries(page_of(kEntries));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, kEntries);
}

TEST(Listing, OfNothingIsEmpty) {
  const auto parsed = parse_entries({});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->empty());
}

TEST(Listing, IsRefusedAtEveryLengthInsideAnEntry) {
  const auto page = page_of(kEntries);
  const std::size_t first = 20 + kEntries[0].name.size();
  const std::size_t second = first + 20 + kEntries[1].name.size();
  for (std::size_t size = 0; size <= page.size(); ++size) {
    const bool whole = size == 0 || size == first || size == second || size == page.size();
    EXPECT_EQ(parse_entries(ConstBytes(page).first(size)).has_value(), whole) << size;
  }
}

TEST(Listing, IsRefusedWithUnknownKindsAndBadLengths) {
  const auto good = page_of({kEntries[1]});
  for (const auto& [at, value] : {std::pair{16, 2}, {18, 0xFF}, {19, 0}}) {
    auto page = good;
    page[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
    EXPECT_FALSE(parse_entries(page)) << at;
  }
}

TEST(Listing, LeavesAPageAloneThatIsTooSmall) {
  std::vector<std::byte> page(20 + kEntries[0].name.size());
  MutableBytes room(page);
  room = room.first(page.size() - 1);
  EXPECT_FALSE(append_entry(room, kEntries[0]));
  EXPECT_EQ(room.size(), page.size() - 1);
  room = page;
  EXPECT_TRUE(append_entry(room, kEntries[0]));
  EXPECT_TRUE(room.empty());
}

}  // namespace
}  // namespace iwarp::cli::file_service
