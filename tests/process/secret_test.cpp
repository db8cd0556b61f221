#include "iwarp/process/secret.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

namespace iwarp::process {
namespace {

int draws;

ssize_t draw_is_interrupted(void* to, std::size_t size, unsigned) {
  if (++draws <= 2) {
    errno = EINTR;
    return -1;
  }
  std::memset(to, 0xAB, size);
  return static_cast<ssize_t>(size);
}

ssize_t draw_in_pieces(void* to, std::size_t size, unsigned) {
  const std::size_t piece = std::min<std::size_t>(size, 3);
  std::memset(to, ++draws, piece);
  return static_cast<ssize_t>(piece);
}

ssize_t draw_is_forbidden(void*, std::size_t, unsigned) {
  errno = EPERM;
  return -1;
}

ssize_t gives_nothing(void*, std::size_t, unsigned) { return 0; }

TEST(Secret, IsAnotherOneEachTime) {
  std::set<std::uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(secret().value());
  EXPECT_EQ(drawn.size(), 1000U);
}

TEST(Secret, IsDrawnOnceMoreAfterASignal) {
  draws = 0;
  EXPECT_EQ(secret(draw_is_interrupted).value(), 0xABABABABABABABABU);
  EXPECT_EQ(draws, 3);
}

TEST(Secret, IsWholeWhereTheSystemGivesPieces) {
  draws = 0;
  std::uint64_t drawn = secret(draw_in_pieces).value();
  const unsigned char expected[]{1, 1, 1, 2, 2, 2, 3, 3};
  EXPECT_EQ(std::memcmp(&drawn, expected, sizeof drawn), 0);
}

TEST(Secret, IsNoneIfTheSystemFails) {
  EXPECT_EQ(secret(draw_is_forbidden).error(), std::errc::operation_not_permitted);
  EXPECT_EQ(secret(gives_nothing).error(), std::errc::io_error);
}

}  // namespace
}  // namespace iwarp::process
