#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <string_view>

#include "verbs/loopback_support.hpp"

// Requests that wait for Listener::next(): how many, whose, and for how long.
namespace iwarp::verbs::test {
namespace {

using boost::asio::ip::tcp;
namespace net = boost::asio;

/// Sends a Request from an address of this host, and waits for what the program says.
class Stranger {
 public:
  Stranger(net::io_context& io, const std::string& from, const Endpoint& to) : socket_(io) {
    socket_.open(tcp::v4());
    socket_.bind({net::ip::make_address(from), 0});
    socket_.connect(to);
    constexpr std::string_view kRequest{"MPA ID Req Frame\x40\x01\x00\x00", 20};
    net::write(socket_, net::buffer(kRequest));
  }
  /// Whether a Reply has come, and it rejects (RFC 5044 §7.1.1).
  bool is_rejected() {
    if (socket_.available() < reply_.size()) return false;
    net::read(socket_, net::buffer(reply_));
    return (reply_[16] & 0x20) != 0;
  }

 private:
  tcp::socket socket_;
  std::array<char, 20> reply_{};
};

class ListenerBacklog : public testing::Test {
 protected:
  explicit ListenerBacklog(int most = 2) {
    server_.emplace(must(side_.device.listen(kAnyPort, options(most))));
  }

  ListenOptions options(int most) {
    ListenOptions made;
    made.backlog = most;
    made.on_waiting = [this] { ++waiting_; };
    return made;
  }
  Stranger& stranger(const std::string& from) {
    strangers_.push_back(std::make_unique<Stranger>(io_, from, server_->endpoint()));
    return *strangers_.back();
  }
  bool become_waiting(int count) {
    return eventually([&] { return waiting_.load() == count; });
  }
  std::string next_from() {
    const auto request = server_->next(kPatience);
    return request ? request->info().remote.address().to_string() : "nobody";
  }

 private:
  net::io_context io_;
  Side side_;
  std::vector<std::unique_ptr<Stranger>> strangers_;

 protected:
  std::atomic<int> waiting_{0};
  std::optional<Listener> server_;
};

TEST_F(ListenerBacklog, RejectsWhomItHasNoRoomFor) {
  stranger("127.0.0.2");
  ASSERT_TRUE(become_waiting(1));
  stranger("127.0.0.2");
  ASSERT_TRUE(become_waiting(2));
  Stranger& third = stranger("127.0.0.2");
  EXPECT_TRUE(eventually([&] { return third.is_rejected(); }));
  EXPECT_EQ(waiting_, 2);
  EXPECT_EQ(next_from(), "127.0.0.2");
  EXPECT_EQ(next_from(), "127.0.0.2");
  EXPECT_FALSE(server_->next(0ms));
}

TEST_F(ListenerBacklog, LeavesRoomToWhoeverHasTakenNone) {
  stranger("127.0.0.2");
  ASSERT_TRUE(become_waiting(1));
  Stranger& second = stranger("127.0.0.2");
  ASSERT_TRUE(become_waiting(2));
  stranger("127.0.0.3");
  ASSERT_TRUE(become_waiting(3));
  EXPECT_TRUE(eventually([&] { return second.is_rejected(); }));
  EXPECT_EQ(next_from(), "127.0.0.2");
  EXPECT_EQ(next_from(), "127.0.0.3");
}

class LongListenerBacklog : public ListenerBacklog {
 protected:
  static constexpr int kMost = 40;
  LongListenerBacklog() : ListenerBacklog(kMost) {}
};

// Two of forty are no large share, though nobody else has more than one.
TEST_F(LongListenerBacklog, RejectsTheLatestWhereNobodyHasALargeShare) {
  Stranger& first = stranger("127.0.1.1");
  Stranger& second = stranger("127.0.1.1");
  ASSERT_TRUE(become_waiting(2));
  for (int i = 2; i < kMost; ++i) {
    stranger("127.0.2." + std::to_string(i));
    ASSERT_TRUE(become_waiting(i + 1));
  }
  Stranger& latest = stranger("127.0.3.1");
  EXPECT_TRUE(eventually([&] { return latest.is_rejected(); }));
  EXPECT_FALSE(first.is_rejected() || second.is_rejected());
  EXPECT_EQ(next_from(), "127.0.1.1");
  EXPECT_EQ(next_from(), "127.0.1.1");
}

TEST_F(ListenerBacklog, HandsOutNobodyWhoHasGone) {
  {
    net::io_context io;
    const Stranger gone(io, "127.0.0.2", server_->endpoint());
    ASSERT_TRUE(become_waiting(1));
  }
  stranger("127.0.0.3");
  ASSERT_TRUE(become_waiting(2));
  EXPECT_EQ(next_from(), "127.0.0.3");
}

}  // namespace
}  // namespace iwarp::verbs::test
