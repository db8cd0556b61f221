#include "verbs/answered_stream.hpp"
#include "verbs/sim_harness.hpp"

// The system has no memory to send with for a while (ENOBUFS, ENOMEM), which no socket tells of.
namespace iwarp::verbs::simtest {
namespace {

using tcp_offload::IoStatus;
using tcp_offload::Sent;

class SendMemory : public testing::Test {
 protected:
  SendMemory() {
    pair.run_for(100ms);  // the RTR indication
    pair.client.host->sends_when_asked = true;
    answer = [this](std::span<const iovec>) -> std::optional<Sent> {
      ++attempts;
      if (!short_of_memory) return std::nullopt;
      return Sent{IoStatus::kNoMemory, 0, std::make_error_code(std::errc::no_buffer_space)};
    };
  }
  void post_send() {
    const Sge to = inbox.sge();
    const Sge from = outbox.sge();
    post(pair.server, RecvWr{1, {&to, 1}});
    post(pair.client, send_of(2, {&from, 1}));
  }

  bool short_of_memory = true;
  int attempts = 0;
  AnsweredStream::Answer answer;
  SimPair pair{{}, [this](std::unique_ptr<tcp_offload::Stream> inner) {
                 return std::make_unique<AnsweredStream>(std::move(inner), answer);
               }};
  Region& outbox = pair.client.region(8000, Access::kNone);
  Region& inbox = pair.server.region(8000, Access::kLocalWrite);
};

TEST_F(SendMemory, WhatWasPostedLeavesOnceThereIsSome) {
  post_send();
  pair.run_for(5s);
  EXPECT_TRUE(pair.client.sent.empty());
  EXPECT_EQ(pair.client.qp->state(), QpState::kRts);
  short_of_memory = false;
  ASSERT_TRUE(pair.run_until([&] { return !pair.server.received.empty(); }, 1s));
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
}

// Neither at each of the engine's turns nor because the socket has room.
TEST_F(SendMemory, IsAskedForLessAndLessOften) {
  post_send();
  pair.run_for(10s);
  EXPECT_FALSE(pair.client.qp->halves().waits().room)
      << "the engine would watch a socket that has room";
  EXPECT_TRUE(pair.client.qp->halves().waits().looks);
  EXPECT_GT(attempts, 10);
  EXPECT_LT(attempts, 120);
}

TEST_F(SendMemory, ComesBackForTheEndToo) {
  post_send();
  pair.client.qp->disconnect();
  pair.run_for(1s);
  EXPECT_TRUE(pair.client.sent.empty());
  short_of_memory = false;
  ASSERT_TRUE(pair.run_until_closed());
  expect_graceful(pair.client);
  EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
}

TEST_F(SendMemory, IsNotAwaitedForEverAtTheEnd) {
  post_send();
  pair.client.qp->disconnect();
  ASSERT_TRUE(pair.run_until([&] { return pair.client.closed(); }, 2 * kDefaultLinger));
  expect_broken(pair.client, "nothing moved for 60 s");
}

}  // namespace
}  // namespace iwarp::verbs::simtest
