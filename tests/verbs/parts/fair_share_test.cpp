#include "iwarp/verbs/fair_share.hpp"

#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>

namespace iwarp::verbs {
namespace {

using boost::asio::ip::make_address;

TEST(FairShare, OldestOfTheNetworkWithTheLargestShareMakesRoom) {
  FairShare<int> share;
  EXPECT_EQ(share.makes_room(), std::nullopt);
  EXPECT_EQ(share.turned_away(), std::nullopt);
  share.add(1, make_address("10.0.0.1"));
  share.add(2, make_address("10.0.0.2"));
  share.add(3, make_address("10.0.0.2"));
  share.add(4, make_address("10.0.0.3"));
  EXPECT_EQ(share.makes_room(), 2);
  EXPECT_EQ(share.turned_away(), 3);
  share.remove(2);
  share.add(5, make_address("10.0.0.1"));
  EXPECT_EQ(share.makes_room(), 1);
  EXPECT_EQ(share.turned_away(), 5);
  EXPECT_EQ(share.size(), 4U);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 2U);
  EXPECT_EQ(share.oldest_of(make_address("10.0.0.2")), 3);
  EXPECT_EQ(share.oldest_of(make_address("10.0.0.9")), std::nullopt);
}

// A network with two holders is not to suffer for a thousand with one each.
TEST(FairShare, AgeDecidesWhereNoShareIsLarge) {
  FairShare<int> share;
  share.add(0, make_address("10.1.0.1"));
  for (int i = 1; i <= 1000; ++i) {
    share.add(i, boost::asio::ip::make_address_v4(0x0a020000U + static_cast<unsigned>(i)));
  }
  share.add(1001, make_address("10.1.0.2"));
  share.add(1002, make_address("10.1.0.2"));
  share.add(1003, make_address("10.1.0.3"));
  EXPECT_EQ(share.makes_room(), 0);
  EXPECT_EQ(share.turned_away(), 1003);
  EXPECT_FALSE(share.is_large(make_address("10.1.0.2")));
  for (int i = 1004; i < 1100; ++i) share.add(i, make_address("10.1.0.2"));
  EXPECT_TRUE(share.is_large(make_address("10.1.0.2")));
  EXPECT_EQ(share.makes_room(), 1001);
  EXPECT_EQ(share.turned_away(), 1099);
}

TEST(FairShare, OneHolderIsNoLargeShare) {
  FairShare<int> share;
  share.add(1, make_address("10.0.0.2"));
  share.add(2, make_address("10.0.0.1"));
  EXPECT_EQ(share.makes_room(), 1);
  EXPECT_EQ(share.turned_away(), 2);
  EXPECT_FALSE(share.is_large(make_address("10.0.0.1")));
}

TEST(FairShare, CountsAmounts) {
  FairShare<int> share;
  share.add(1, make_address("10.0.0.1"), 10);
  share.add(2, make_address("10.0.0.1"), 10);
  share.add(3, make_address("10.0.0.2"), 30);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 20U);
  EXPECT_EQ(share.makes_room(), 3);
  share.remove(3);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.2")), 0U);
  EXPECT_EQ(share.makes_room(), 1);
}

TEST(FairShare, IsEmptyAgainWhenAllHaveGone) {
  FairShare<int> share;
  for (int i = 0; i < 100; ++i) share.add(i, make_address("10.0.0.1"));
  for (int i = 0; i < 100; ++i) share.remove(i);
  share.remove(7);
  EXPECT_EQ(share.size(), 0U);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 0U);
  EXPECT_EQ(share.makes_room(), std::nullopt);
}

// A host chooses the lower half of its IPv6 address itself, as often as it likes.
TEST(FairShare, CountsAnIpv6HostAsOneWhateverItsAddresses) {
  FairShare<int> share;
  share.add(1, make_address("2001:db8::1"));
  share.add(2, make_address("10.0.0.1"));
  share.add(3, make_address("2001:db8::ffff:1"));
  share.add(4, make_address("2001:db8:0:1::1"));
  EXPECT_EQ(share.of_peer(make_address("2001:db8::2")), 2U);
  EXPECT_EQ(share.makes_room(), 1);
  EXPECT_EQ(share.of_peer(make_address("::ffff:10.0.0.1")), 1U);
}

}  // namespace
}  // namespace iwarp::verbs
