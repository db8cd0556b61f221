#include "wire/scatter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace iwarp::rsocket {
namespace {

// Lists with empty pieces in front, between and behind.
struct Lists {
  std::string one = "abc", two = "de";
  std::array<iovec, 5> list{{{nullptr, 0},
                             {one.data(), one.size()},
                             {nullptr, 0},
                             {two.data(), two.size()},
                             {nullptr, 0}}};
};

TEST(RsocketScatter, IsReadAcrossPieces) {
  Lists lists;
  Scatter scatter(lists.list);
  EXPECT_EQ(scatter.left(), 5U);
  std::string read(4, '.');
  scatter.copy_to(std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, "abcd");
  EXPECT_EQ(scatter.passed(), 4U);
  scatter.copy_to(std::as_writable_bytes(std::span(read).first(1)));
  EXPECT_EQ(read, "ebcd");
  EXPECT_EQ(scatter.left(), 0U);
}

TEST(RsocketScatter, IsWrittenAcrossPieces) {
  Lists lists;
  Scatter scatter(lists.list);
  const std::string text = "12345";
  const ConstBytes octets = std::as_bytes(std::span(text));
  scatter.copy_from(octets.first(2));
  scatter.copy_from(octets.subspan(2));
  EXPECT_EQ(lists.one, "123");
  EXPECT_EQ(lists.two, "45");
}

}  // namespace
}  // namespace iwarp::rsocket
