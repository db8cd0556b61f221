#include "wire/remote_mappings.hpp"

#include <gtest/gtest.h>

namespace iwarp::rsocket {
namespace {

const RemoteMapping kMapping{.offset = 1000, .length = 100, .address = 0x5000, .key = 7};

TEST(RsocketRemoteMappings, NameOctetsByOffset) {
  RemoteMappings mappings;
  ASSERT_TRUE(mappings.add(kMapping));
  const auto found = mappings.at(1030);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->address, 0x5000U + 30U);
  EXPECT_EQ(found->length, 70U);
  EXPECT_EQ(found->key, 7U);
  EXPECT_FALSE(mappings.at(999));
  EXPECT_FALSE(mappings.at(1100));
}

TEST(RsocketRemoteMappings, AreGoneWhenRemoved) {
  RemoteMappings mappings;
  ASSERT_TRUE(mappings.add(kMapping));
  EXPECT_FALSE(mappings.remove(8));
  EXPECT_TRUE(mappings.remove(7));
  EXPECT_FALSE(mappings.at(1000));
}

TEST(RsocketRemoteMappings, PreferTheNewest) {
  RemoteMappings mappings;
  ASSERT_TRUE(mappings.add(kMapping));
  ASSERT_TRUE(mappings.add({.offset = 1000, .length = 10, .address = 0x9000, .key = 8}));
  EXPECT_EQ(mappings.at(1005)->key, 8U);
  EXPECT_EQ(mappings.at(1010)->key, 7U);
}

TEST(RsocketRemoteMappings, RefuseRangesThatWrapAndTooMany) {
  RemoteMappings mappings;
  const std::uint64_t last = ~std::uint64_t{0};
  EXPECT_FALSE(mappings.add({.offset = last, .length = 2, .address = 0, .key = 1}));
  EXPECT_FALSE(mappings.add({.offset = 0, .length = 2, .address = last, .key = 1}));
  for (std::size_t each = 0; each < RemoteMappings::kMost; ++each)
    ASSERT_TRUE(mappings.add(kMapping));
  EXPECT_FALSE(mappings.add(kMapping));
}

}  // namespace
}  // namespace iwarp::rsocket
