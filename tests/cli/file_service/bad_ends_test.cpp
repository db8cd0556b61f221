#include "file_service/server/bad_ends.hpp"

#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {
namespace {

using boost::asio::ip::make_address;
using std::chrono::seconds;

class BadEndsTest : public testing::Test {
 protected:
  /// So many strangers, each of a network of its own, go without having got anything.
  void attack(unsigned strangers) {
    for (unsigned i = 0; i < strangers; ++i) {
      ends_.note_bad(boost::asio::ip::make_address_v4(0x0a000000U + i), now_);
    }
  }
  static constexpr unsigned kMany = static_cast<unsigned>(kBadEndsOfAnAttack) + 1;

  BadEnds ends_;
  BadEnds::Clock::time_point now_ = BadEnds::Clock::now();
  const boost::asio::ip::address one_ = make_address("192.0.2.1");
};

TEST_F(BadEndsTest, HoldBackNobodyWhileTheyAreFew) {
  attack(kMany - 2);
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
}

TEST_F(BadEndsTest, HoldTheirNetworksBackWhileTheyAreMany) {
  attack(kMany);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
  ends_.note_bad(one_, now_);
  EXPECT_TRUE(ends_.holds_back(one_, now_));
  EXPECT_TRUE(ends_.holds_back(make_address("10.0.0.5"), now_));
  EXPECT_FALSE(ends_.holds_back(make_address("192.0.2.2"), now_));
}

TEST_F(BadEndsTest, HoldNoNetworkBackOfWhichAClientWasServedLately) {
  ends_.note_bad(one_, now_);
  attack(kMany);
  ends_.note_good(one_, now_);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
  now_ += kTrusted;
  attack(kMany);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
  ends_.note_bad(one_, now_);
  EXPECT_TRUE(ends_.holds_back(one_, now_));
}

TEST_F(BadEndsTest, KnowTheNetworksOfWhichAClientWasServedLately) {
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.knows(one_, now_));
  ends_.note_good(one_, now_);
  ends_.note_bad(one_, now_);
  EXPECT_TRUE(ends_.knows(one_, now_));
  EXPECT_FALSE(ends_.knows(make_address("192.0.2.2"), now_));
  EXPECT_FALSE(ends_.knows(one_, now_ + kTrusted));
}

TEST_F(BadEndsTest, HoldBackForAWhile) {
  attack(kMany);
  ends_.note_bad(one_, now_);
  now_ += kHeldBack;
  attack(kMany);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
}

TEST_F(BadEndsTest, AreNoAttackAnyMoreSoonAfterTheyBecomeFew) {
  ends_.note_bad(one_, now_);
  attack(100 * kMany);
  EXPECT_TRUE(ends_.holds_back(one_, now_));
  now_ += seconds(static_cast<int>(kBadEndsOfAnAttack / kBadEndsASecond) + 1);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
}

// Networks that are held back come again and again.
TEST_F(BadEndsTest, AreCountedWhereTheyAreHeldBack) {
  attack(2 * kMany);
  ends_.note_bad(one_, now_);
  for (int i = 0; i < 100; ++i) {
    now_ += std::chrono::milliseconds(200);
    for (unsigned j = 0; j < 3; ++j) {
      EXPECT_TRUE(ends_.holds_back(make_address("10.0.0.1"), now_)) << i;
    }
  }
}

TEST_F(BadEndsTest, CountAHostOfIpv6Once) {
  attack(kMany);
  ends_.note_bad(make_address("2001:db8::1"), now_);
  EXPECT_TRUE(ends_.holds_back(make_address("2001:db8::2"), now_));
}

TEST_F(BadEndsTest, AreKnownOfALimitedNumberOfNetworks) {
  ends_.note_bad(one_, now_);
  attack(kMostHeldBack);
  EXPECT_FALSE(ends_.holds_back(one_, now_));
  EXPECT_TRUE(ends_.holds_back(make_address("10.0.0.0"), now_));
}

// The end of an attack is no reason for the next one.
TEST_F(BadEndsTest, HoldTheNetworksOfAnAttackBackBeyondItsEnd) {
  ends_.note_bad(one_, now_);
  attack(2 * kMany);
  now_ += kHeldBack - seconds(1);
  EXPECT_TRUE(ends_.holds_back(make_address("10.0.0.150"), now_));
  EXPECT_FALSE(ends_.holds_back(one_, now_));
}

TEST_F(BadEndsTest, HoldBackForTwiceAsLongEachTimeUpToALimit) {
  for (BadEnds::Clock::duration wait = kHeldBack; wait < kLongestHeldBack; wait *= 2) {
    attack(kMany);
    ends_.note_bad(one_, now_);
    EXPECT_TRUE(ends_.holds_back(one_, now_ + wait - seconds(1)));
    EXPECT_FALSE(ends_.holds_back(one_, now_ + wait));
    now_ += wait;
  }
  for (int i = 0; i < 3; ++i) {
    attack(kMany);
    ends_.note_bad(one_, now_);
    EXPECT_FALSE(ends_.holds_back(one_, now_ + kLongestHeldBack));
  }
  ends_.note_good(one_, now_);
  now_ += kTrusted;
  attack(kMany);
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.holds_back(one_, now_ + kHeldBack));
}

TEST_F(BadEndsTest, ShutOutTheNetworksThatWereTold) {
  attack(kMany);
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.shuts_out(one_, now_));
  EXPECT_TRUE(ends_.holds_back(one_, now_));
  EXPECT_TRUE(ends_.shuts_out(one_, now_));
  EXPECT_FALSE(ends_.shuts_out(make_address("192.0.2.2"), now_));
  now_ += kHeldBack;
  EXPECT_FALSE(ends_.shuts_out(one_, now_));
  attack(kMany);
  ends_.note_bad(one_, now_);
  EXPECT_FALSE(ends_.shuts_out(one_, now_));
}

}  // namespace
}  // namespace iwarp::cli::file_service
