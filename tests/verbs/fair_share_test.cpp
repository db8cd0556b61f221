#include "iwarp/verbs/fair_share.hpp"

#include <gtest/gtest.h>

namespace iwarp::verbs {
namespace {

using boost::asio::ip::make_address;

TEST(FairShare, OldestOfTheNetworkThatHoldsTheMostMakesRoom) {
  FairShare<int> share;
  EXPECT_EQ(share.oldest_of_largest(), std::nullopt);
  EXPECT_EQ(share.youngest_of_largest(), std::nullopt);
  share.add(1, make_address("10.0.0.1"));
  share.add(2, make_address("10.0.0.2"));
  share.add(3, make_address("10.0.0.2"));
  share.add(4, make_address("10.0.0.3"));
  EXPECT_EQ(share.oldest_of_largest(), 2);
  EXPECT_EQ(share.youngest_of_largest(), 3);
  share.remove(2);
  share.add(5, make_address("10.0.0.1"));
  EXPECT_EQ(share.oldest_of_largest(), 1);
  EXPECT_EQ(share.youngest_of_largest(), 5);
  EXPECT_EQ(share.size(), 4U);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 2U);
  EXPECT_EQ(share.oldest_of(make_address("10.0.0.2")), 3);
  EXPECT_EQ(share.oldest_of(make_address("10.0.0.9")), std::nullopt);
}

TEST(FairShare, CountsAmounts) {
  FairShare<int> share;
  share.add(1, make_address("10.0.0.1"), 10);
  share.add(2, make_address("10.0.0.1"), 10);
  share.add(3, make_address("10.0.0.2"), 30);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 20U);
  EXPECT_EQ(share.oldest_of_largest(), 3);
  share.remove(3);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.2")), 0U);
  EXPECT_EQ(share.oldest_of_largest(), 1);
}

TEST(FairShare, IsEmptyAgainWhenAllHaveGone) {
  FairShare<int> share;
  for (int i = 0; i < 100; ++i) share.add(i, make_address("10.0.0.1"));
  for (int i = 0; i < 100; ++i) share.remove(i);
  share.remove(7);
  EXPECT_EQ(share.size(), 0U);
  EXPECT_EQ(share.of_peer(make_address("10.0.0.1")), 0U);
  EXPECT_EQ(share.oldest_of_largest(), std::nullopt);
}

// A host chooses the lower half of its IPv6 address itself, as often as it likes.
TEST(FairShare, CountsAnIpv6HostAsOneWhateverItsAddresses) {
  FairShare<int> share;
  share.add(1, make_address("2001:db8::1"));
  share.add(2, make_address("10.0.0.1"));
  share.add(3, make_address("2001:db8::ffff:1"));
  share.add(4, make_address("2001:db8:0:1::1"));
  EXPECT_EQ(share.of_peer(make_address("2001:db8::2")), 2U);
  EXPECT_EQ(share.oldest_of_largest(), 1);
  EXPECT_EQ(share.of_peer(make_address("::ffff:10.0.0.1")), 1U);
}

}  // namespace
}  // namespace iwarp::verbs
