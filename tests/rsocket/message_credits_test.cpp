#include "wire/message_credits.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace iwarp::rsocket {
namespace {

TEST(RsocketMessageCredits, KeepOneForReturnsAndOneForTheEnd) {
  MessageCredits credits(8, 5);
  int sent = 0;
  for (; credits.may_send(); ++sent) credits.sent();
  EXPECT_EQ(sent, 3);
  EXPECT_FALSE(credits.may_return());
  for (int each = 0; each < 4; ++each) credits.received();
  ASSERT_TRUE(credits.worth_telling());
  EXPECT_FALSE(credits.may_send());
  EXPECT_TRUE(credits.may_return());
  credits.sent();
  credits.told();
  for (int each = 0; each < 4; ++each) credits.received();
  EXPECT_FALSE(credits.may_return());
  EXPECT_TRUE(credits.may_finish());
}

TEST(RsocketMessageCredits, GrantWhatWasReceived) {
  MessageCredits credits(8, 8);
  EXPECT_EQ(credits.granted_to_peer(), 8U);
  credits.received();
  EXPECT_EQ(credits.granted_to_peer(), 9U);
}

TEST(RsocketMessageCredits, AreNotTakenBack) {
  MessageCredits credits(8, 8);
  EXPECT_TRUE(credits.granted(10));
  EXPECT_FALSE(credits.granted(9));
  EXPECT_TRUE(credits.granted(10));
}

// One end: sends data when it may, returns credits when that is worth a Message.
struct End {
  struct Sent {
    bool data;
    std::uint64_t granted;
  };

  End(std::uint32_t own, std::uint32_t peers, int to_send)
      : posted(own), credits(own, peers), left(to_send) {}

  void send_to(End& peer, bool data) {
    peer.arriving.push_back({data, credits.granted_to_peer()});
    // More than there are receives would end the connection.
    ASSERT_LE(peer.arriving.size(), peer.posted);
    credits.sent();
    credits.told();
    if (data) --left;
  }

  void send_some(End& peer, int most) {
    for (; most > 0 && left > 0 && credits.may_send(); --most) send_to(peer, true);
  }

  void receive_some(End& peer, std::size_t most) {
    for (; most > 0 && !arriving.empty(); --most) {
      const Sent message = arriving.front();
      arriving.pop_front();
      credits.received();
      ASSERT_TRUE(credits.granted(message.granted));
      if (message.data) ++received;
    }
    if (credits.worth_telling() && credits.may_return()) send_to(peer, false);
  }

  std::uint32_t posted;
  MessageCredits credits;
  int left, received = 0;
  std::deque<Sent> arriving;  // sent and not received
};

// Whatever the two ends do, nobody overruns the other, and as long as they look at what came
// nobody waits for ever.
TEST(RsocketMessageCredits, NeverOverrunAndNeverStall) {
  const unsigned first_seed = std::random_device{}();
  for (unsigned seed = first_seed; seed < first_seed + 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto a_receives = static_cast<std::uint32_t>(4 + random() % 12);
    const auto b_receives = static_cast<std::uint32_t>(4 + random() % 12);
    const int from_a = static_cast<int>(random() % 500), from_b = static_cast<int>(random() % 500);
    End a(a_receives, b_receives, from_a), b(b_receives, a_receives, from_b);
    for (int step = 0; step < 20'000 && (a.received < from_b || b.received < from_a); ++step) {
      End& self = random() % 2 == 0 ? a : b;
      End& other = &self == &a ? b : a;
      if (random() % 2 == 0)
        self.send_some(other, static_cast<int>(random() % 20));
      else
        self.receive_some(other, random() % 20);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
    EXPECT_EQ(a.received, from_b);
    EXPECT_EQ(b.received, from_a);
    EXPECT_TRUE(a.credits.may_finish());
    EXPECT_TRUE(b.credits.may_finish());
  }
}

}  // namespace
}  // namespace iwarp::rsocket
