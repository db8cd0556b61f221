#include <array>
#include <deque>
#include <vector>

#include "fixture.hpp"

// What one connection may have of a message pool that others use as well, as the program keeps
// messages and connections go.
namespace iwarp::asio::test {
namespace {

class AsioPoolShare : public PlainTest {
 protected:
  static constexpr std::uint32_t kShare = 2;
  static constexpr std::uint32_t kCount = 8;
  static constexpr std::uint32_t kSize = 1 << 20;

  struct pair {
    connection client, server;
  };
  pair connected() {
    pair made{connection(client_domain), connection(server_domain, {.messages = &pool})};
    connect(made.client, made.server);
    return made;
  }
  void send(pair& over, std::string_view words = "words") {
    told<> sent;
    over.client.async_send(text(words), sent.handler());
    ASSERT_TRUE(run_until([&] { return sent.times == 1; }));
    ASSERT_FALSE(sent.error) << over.client.why();
  }
  message receive(pair& over) {
    told<message> got;
    over.server.async_receive(got.handler());
    EXPECT_TRUE(run_until([&] { return got.times == 1; }));
    EXPECT_FALSE(got.error) << over.server.why();
    return std::move(got.result);
  }
  message exchange(pair& over) {
    send(over);
    return receive(over);
  }
  // Whether it has all that it may: one more message ends the connection.
  bool has_its_share(pair& of) {
    told<message> got;
    of.server.async_receive(got.handler());
    of.client.async_send(text("one more"), net::detached);
    EXPECT_TRUE(run_until([&] { return got.times == 1; }));
    return got.error && !of.server.is_open();
  }
  bool all_available() {
    return run_until([this] { return pool.available() == kCount; });
  }

  message_pool pool{server_domain, {.count = kCount, .message_size = kSize, .share = kShare}};
  pair slow = connected(), fast = connected();
};

TEST_F(AsioPoolShare, OfAFastClientIsNotUsedUpByMessagesThatAreKeptOfASlowOne) {
  std::vector<message> kept;
  kept.push_back(exchange(slow));
  kept.push_back(exchange(slow));
  for (int i = 0; i < 200; ++i) {
    const message got = exchange(fast);
    ASSERT_EQ(text(got), "words") << "after " << i;
  }
  EXPECT_TRUE(has_its_share(slow));
  EXPECT_EQ(text(exchange(fast)), "words");
  EXPECT_EQ(text(kept[0]), "words");
}

TEST_F(AsioPoolShare, GrowsBackInWhateverOrderMessagesAreDestroyed) {
  const std::array from = {&slow, &fast, &slow, &fast};
  std::array<message, 4> kept;
  for (std::size_t i = 0; i < kept.size(); ++i) kept.at(i) = exchange(*from.at(i));
  for (int i = 0; i < 50; ++i) {
    for (const std::size_t place : {3U, 0U, 2U, 1U}) {
      kept.at(place) = message();
      kept.at(place) = exchange(*from.at(place));
    }
    ASSERT_TRUE(slow.server.is_open() && fast.server.is_open()) << "after " << i;
  }
  kept = {};
  EXPECT_TRUE(all_available());
}

// Nobody has received them: they wait inside the connection.
TEST_F(AsioPoolShare, IsUsedByMessagesThatWaitToBeReceived) {
  send(slow);
  send(slow);
  ASSERT_TRUE(run_until([this] { return pool.available() == kCount - 2; }));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(text(exchange(fast)), "words") << "after " << i;
  EXPECT_EQ(text(receive(slow)), "words");
  send(slow);
  EXPECT_EQ(text(receive(slow)), "words");
  EXPECT_EQ(text(receive(slow)), "words");
}

TEST_F(AsioPoolShare, OfOthersDoesNotGrowByMessagesThatOutliveTheirConnection) {
  std::vector<message> kept;
  for (auto* from : {&fast, &fast, &slow, &slow}) kept.push_back(exchange(*from));
  slow = pair();
  ASSERT_TRUE(run_to_end());
  kept.resize(2);
  EXPECT_TRUE(has_its_share(fast));
  kept.clear();
  EXPECT_TRUE(all_available());
}

TEST_F(AsioPoolShare, IsAnewThatOfEachConnection) {
  std::deque<message> kept;
  for (int i = 0; i < 40; ++i) {
    pair guest = connected();
    kept.push_back(exchange(guest));
    kept.push_back(exchange(guest));
    guest = pair();
    ASSERT_EQ(text(exchange(fast)), "words") << "after " << i;
    while (kept.size() > 4) kept.pop_front();
  }
  kept.clear();
  EXPECT_TRUE(all_available());
}

TEST_F(AsioPoolShare, IsBackInThePoolWhenAConnectionIsDestroyedWithMessages) {
  send(slow);
  send(slow);
  ASSERT_TRUE(run_until([this] { return pool.available() == kCount - 2; }));
  slow.server = connection();
  EXPECT_TRUE(all_available());
}

TEST_F(AsioPoolShare, IsBackInThePoolWhenAConnectionIsDestroyedInsideAMessage) {
  const registered_buffer octets(client_domain, kSize);
  for (int i = 0; i < 30; ++i) {  // before, inside and behind the messages
    pair guest = connected();
    for (std::uint32_t k = 0; k < kShare; ++k) guest.client.async_send(octets, net::detached);
    io.restart();
    io.run_for(std::chrono::microseconds(100 * i));
    guest.server = connection();
    ASSERT_TRUE(all_available()) << "after " << i;
    ASSERT_EQ(text(exchange(fast)), "words");
  }
}

}  // namespace
}  // namespace iwarp::asio::test
