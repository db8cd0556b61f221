#include "soft/engine/socket_table.hpp"

#include <gtest/gtest.h>

#include <array>

namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

/// A connection that waits for what the test says; its socket is an eventfd, which has room.
class WaitingConnection final : public Driven {
 public:
  explicit WaitingConnection(Waits waits) : waits_(waits) {}

  [[nodiscard]] int descriptor() const override { return socket_.descriptor(); }
  [[nodiscard]] Waits waits() const override { return waits_; }
  [[nodiscard]] Pollers pollers() const override { return {signs_, signs_}; }
  [[nodiscard]] bool busy() const override { return false; }
  void drive() override {}
  void flush() override {}
  bool receive() override { return true; }
  void transmit() override {}
  void look_again() override {}
  void cannot_be_watched(const std::error_code& why) override { FAIL() << why; }
  bool check_deadlines() override { return false; }
  [[nodiscard]] std::optional<HalfFpdu> half_fpdu() const override { return std::nullopt; }
  void give_up_half_fpdu(std::chrono::steady_clock::time_point) override {}
  void close() override {}
  [[nodiscard]] bool delivered() const override { return true; }
  [[nodiscard]] bool over() const override { return false; }

 private:
  const Waits waits_;
  tcp_offload::EventCount socket_;
  PollSigns signs_;
};

/// A program that polls meets a connection before the engine does: what it finds out is to be
/// waited for shows when the engine gets the connection.
class SocketTableTest : public testing::Test {
 protected:
  void add(const Waits& waits) {
    ASSERT_FALSE(table.add(driven.emplace_back(std::make_shared<WaitingConnection>(waits))));
  }

  tcp_offload::ReadinessSet sockets{tcp_offload::Repeat::kOnce};
  tcp_offload::EventCount wake;
  SocketTable table{sockets, wake};
  std::vector<std::shared_ptr<Driven>> driven;
};

TEST_F(SocketTableTest, LooksAfterAConnectionThatWaitsForWhatNoSocketTells) {
  add({.input = true});
  EXPECT_TRUE(table.looking().empty());
  EXPECT_FALSE(table.next_tick());
  wake.clear();
  add({.looks = true});
  EXPECT_EQ(table.looking(), SocketTable::Owners{driven[1]});
  EXPECT_TRUE(table.next_tick());
  EXPECT_TRUE(tcp_offload::is_readable(wake.descriptor())) << "the engine sleeps on";
}

TEST_F(SocketTableTest, WatchesForRoomWhereTheSocketWasFullBefore) {
  add({.room = true});
  std::array<tcp_offload::Ready, 2> ready;
  ASSERT_EQ(sockets.wait(ready, 1s), 1U);
  EXPECT_EQ(ready[0].token, token_of(*driven[0]));
  EXPECT_TRUE(ready[0].write);
}

}  // namespace
}  // namespace iwarp::verbs::soft
