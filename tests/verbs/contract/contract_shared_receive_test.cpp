// What a provider promises of shared receive queues, or that it has none.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class SharedReceiveOfferContract : public Contract {};
IWARP_IN_EVERY_WORLD(SharedReceiveOfferContract);

TEST_P(SharedReceiveOfferContract, AQueueIsMadeOrRefused) {
  const auto srq = server.pd->create_srq();
  if (can(Capability::kSharedReceive)) {
    EXPECT_TRUE(srq) << srq.error().message;
  } else {
    EXPECT_EQ(refusal(srq), std::errc::not_supported);
  }
}

class SharedReceiveContract : public Contract {
 protected:
  void SetUp() override {
    IWARP_NEEDS(Capability::kSharedReceive);
    srq.emplace(server.pd->create_srq({.max_wr = 64}).value());
    for (int i = 0; i < 2; ++i) {
      QpOptions options;
      options.srq = &*srq;
      lefts.emplace_back(client);
      rights.emplace_back(server, std::move(options));
      ASSERT_TRUE(connect(lefts.back(), rights.back()));
    }
  }
  bool told_of_limit() {
    return until([&] {
      const auto event = world->server().wait_async_event(std::chrono::milliseconds(0));
      return event && event->kind == AsyncEvent::Kind::kSrqLimitReached &&
             event->number == srq->number();
    });
  }

  std::optional<SharedReceiveQueue> srq;
  std::deque<End> lefts, rights;
};
IWARP_IN_EVERY_WORLD(SharedReceiveContract);

TEST_P(SharedReceiveContract, ItsReceivesServeEachOfItsQueuePairs) {
  constexpr std::size_t kMessages = 20;
  const Bytes content = pattern(kMessages);
  const Buffer& source = client.buffer(content);
  const Buffer& sink = server.buffer(kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) {
    const Sge scatter = sink.sge(i, 1);
    ASSERT_TRUE(srq->post_receive(RecvWr{i, {&scatter, 1}}));
  }
  std::size_t by_number[2] = {};
  for (std::size_t i = 0; i < kMessages; ++i) {
    const Sge gather = source.sge(i, 1);
    post(lefts[i % 2], send_of(i, {&gather, 1}));
    ASSERT_TRUE(until([&] { return server.received.size() == i + 1; }));
    const Completion& received = server.received.back();
    EXPECT_EQ(received.wr_id, i);
    EXPECT_EQ(received.qp_number, rights[i % 2].qp->number());
    ++by_number[i % 2];
  }
  EXPECT_EQ(by_number[0], by_number[1]);
  EXPECT_EQ(sink.content(), content);
}

TEST_P(SharedReceiveContract, ItsQueuePairsTakeNoReceivesOfTheirOwn) {
  EXPECT_EQ(refusal(rights[0].qp->post_receive(RecvWr{1, {}})), std::errc::invalid_argument);
}

TEST_P(SharedReceiveContract, AFullOneTakesWhatItHasRoomFor) {
  const std::vector<RecvWr> more(world->server().attributes().max_srq_wr + 1U);
  const auto posted = srq->post_receive(more);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_enough_memory);
  EXPECT_GE(posted.error().index, 64U);
}

TEST_P(SharedReceiveContract, AnElementTooManyIsRefused) {
  const std::vector<Sge> many(world->server().attributes().max_sge + 1U);
  const auto posted = srq->post_receive(RecvWr{1, many});
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 0U);
  EXPECT_EQ(posted.error().field, PostField::kSges);
}

TEST_P(SharedReceiveContract, ItsLimitIsToldOnceItIsUndercut) {
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(srq->post_receive(RecvWr{i, {}}));
  ASSERT_TRUE(srq->arm_limit(3));
  post(lefts[0], send_of(1, {}));  // leaves three
  ASSERT_TRUE(until([&] { return server.received.size() == 1; }));
  EXPECT_FALSE(world->server().wait_async_event(std::chrono::milliseconds(0)));
  post(lefts[1], send_of(2, {}));  // leaves two
  EXPECT_TRUE(told_of_limit());
}

TEST_P(SharedReceiveContract, WhatItsQueuePairsDidNotTakeStays) {
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(srq->post_receive(RecvWr{i, {}}));
  lefts[0].qp->abort();
  ASSERT_TRUE(until_over(lefts[0], rights[0]));
  settle();
  EXPECT_TRUE(server.received.empty());
  post(lefts[1], send_of(1, {}));
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(server.received[0].status, Status::kSuccess);
}

TEST_P(SharedReceiveContract, OneBeyondTheLimitsIsRefused) {
  const DeviceAttributes& attributes = world->server().attributes();
  EXPECT_EQ(refusal(server.pd->create_srq({.max_wr = attributes.max_srq_wr + 1U})),
            std::errc::invalid_argument);
  EXPECT_EQ(refusal(server.pd->create_srq({.max_sge = attributes.max_sge + 1U})),
            std::errc::invalid_argument);
}

TEST_P(SharedReceiveContract, OneOfAnotherDomainIsRefused) {
  auto other = world->server().alloc_pd().value();
  QpOptions options;
  options.srq = &*srq;
  EXPECT_EQ(refusal(other.create_qp(*server.send_cq, *server.recv_cq, std::move(options))),
            std::errc::invalid_argument);
}

}  // namespace
}  // namespace iwarp::verbs::contract
