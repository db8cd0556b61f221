#include "iwarp/base/gather_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace iwarp {
namespace {

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const GatherList& list) {
  std::string text(list.size(), '?');
  list.extract(0, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST(GatherList, StartsEmpty) {
  const GatherList list(16, 4);
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.pieces().empty());
  EXPECT_TRUE(list.has_room(16, 4));
  EXPECT_FALSE(list.has_room(17, 0));
  EXPECT_FALSE(list.has_room(0, 5));
}

TEST(GatherList, LetsNeighboursInTheArenaShareAPiece) {
  GatherList list(16, 4);
  list.copy(bytes_of("ab"));
  list.copy(bytes_of("cde"));
  *list.append(1) = std::byte{'f'};
  ASSERT_EQ(list.pieces().size(), 1U);
  EXPECT_EQ(list.pieces()[0].iov_len, 6U);
  EXPECT_EQ(text_of(list), "abcdef");
}

TEST(GatherList, KeepsTheOrderOfCopiesAndReferences) {
  GatherList list(16, 8);
  const std::string_view big = "-elsewhere-";
  list.copy(bytes_of("ab"));
  list.reference(bytes_of(big));
  list.copy(bytes_of("cd"));
  list.copy(bytes_of("ef"));
  EXPECT_EQ(list.pieces().size(), 3U);
  EXPECT_EQ(list.pieces()[1].iov_base, static_cast<const void*>(big.data()));
  EXPECT_EQ(text_of(list), "ab-elsewhere-cdef");
  EXPECT_EQ(list.arena_used(), 6U);
}

TEST(GatherList, TakesNoPieceForNothing) {
  GatherList list(16, 4);
  list.copy({});
  list.reference({});
  EXPECT_TRUE(list.pieces().empty());
  EXPECT_EQ(list.size(), 0U);
}

TEST(GatherList, GoesBackIntoTheMiddleOfASharedPiece) {
  GatherList list(16, 4);
  list.copy(bytes_of("ab"));
  const GatherList::Mark mark = list.mark();
  list.copy(bytes_of("XX"));
  list.reference(bytes_of("YY"));
  list.copy(bytes_of("ZZ"));
  list.rewind(mark);
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.arena_used(), 2U);
  list.copy(bytes_of("cd"));
  EXPECT_EQ(list.pieces().size(), 1U);
  EXPECT_EQ(text_of(list), "abcd");
}

TEST(GatherList, GoesBackToTheStart) {
  GatherList list(16, 4);
  const GatherList::Mark mark = list.mark();
  list.copy(bytes_of("ab"));
  list.rewind(mark);
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.pieces().empty());
  EXPECT_TRUE(list.has_room(16, 4));
}

TEST(GatherList, GoesBackBehindAReference) {
  GatherList list(16, 4);
  list.reference(bytes_of("1234"));
  const GatherList::Mark mark = list.mark();
  list.copy(bytes_of("ab"));
  list.rewind(mark);
  list.copy(bytes_of("cd"));
  EXPECT_EQ(text_of(list), "1234cd");
}

TEST(GatherList, ReusesItsRoomAfterClear) {
  GatherList list(8, 2);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(list.has_room(8, 2));
    list.copy(bytes_of("abcdefgh"));
    list.reference(bytes_of("ij"));
    EXPECT_FALSE(list.has_room(1, 0));
    EXPECT_FALSE(list.has_room(0, 1));
    EXPECT_EQ(text_of(list), "abcdefghij");
    list.clear();
    EXPECT_EQ(list.size(), 0U);
    EXPECT_EQ(list.arena_used(), 0U);
  }
}

TEST(GatherList, ExtractsEveryRange) {
  GatherList list(16, 8);
  list.copy(bytes_of("abc"));
  list.reference(bytes_of("defgh"));
  list.copy(bytes_of("ij"));
  const std::string all = text_of(list);
  for (std::size_t from = 0; from <= all.size(); ++from) {
    for (std::size_t size = 0; from + size <= all.size(); ++size) {
      std::string part(size, '?');
      list.extract(from, std::as_writable_bytes(std::span(part)));
      EXPECT_EQ(part, all.substr(from, size));
    }
  }
}

}  // namespace
}  // namespace iwarp
