#include <gmock/gmock.h>

#include "rnic_support.hpp"

/// Several Devices of one adapter: librdmacm has one context for all of them.
namespace iwarp::rnic::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using verbs::AsyncEvent;

/// One more Device of the same adapter, with a queue pair that takes from a shared queue.
struct Second {
  verbs::Device device{open_adapter(kAdapter).value()};
  verbs::ProtectionDomain pd = device.alloc_pd().value();
  verbs::CompletionQueue cq = device.create_cq(64).value();
  verbs::SharedReceiveQueue srq = pd.create_srq().value();
  verbs::QueuePair qp = pd.create_qp(cq, {.srq = &srq}).value();
};

class DevicesOfOneAdapter : public Adapters {
 protected:
  /// Has the peer ask for memory that it must not have.
  void trespass() {
    const std::array source{region_.sge(0, 8)};
    ASSERT_TRUE(a_.post_send({.wr_id = 3,
                              .opcode = verbs::Opcode::kWrite,
                              .sges = source,
                              .remote_stag = Stag{0x12345600},
                              .remote_offset = 0}));
  }
};

TEST_F(DevicesOfOneAdapter, AnEventOfAQueuePairReachesItsOwnOnly) {
  Second second;
  connect_to(second.device, second.qp);
  trespass();
  std::vector<AsyncEvent> events;
  while (auto event = second.device.wait_async_event(events.empty() ? 10s : 100ms)) {
    events.push_back(std::move(*event));
  }
  EXPECT_THAT(events, Contains(Field(&AsyncEvent::kind, AsyncEvent::Kind::kQpAccessError)));
  EXPECT_THAT(events, Each(Field(&AsyncEvent::number, second.qp.number())));
  EXPECT_THAT(second.qp.diagnosis().to_string(), HasSubstr("iwarp0 says"));
  while (const auto event = device_.wait_async_event(0ms)) {
    EXPECT_EQ(event->number, a_.number()) << event->message;
  }
}

TEST_F(DevicesOfOneAdapter, AnEventOfASharedReceiveQueueReachesItsOwnOnly) {
  Second second;
  ASSERT_TRUE(second.srq.arm_limit(5));
  const auto event = second.device.wait_async_event(10s);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, AsyncEvent::Kind::kSrqLimitReached);
  EXPECT_EQ(event->number, second.srq.number());
  EXPECT_FALSE(device_.wait_async_event(20ms));
}

TEST_F(DevicesOfOneAdapter, ClosingOneLeavesTheOtherWorking) {
  {
    Second second;
    connect_to(second.device, second.qp);
  }
  ASSERT_TRUE(a_.wait_disconnected(10s));
  Second third;
  ASSERT_TRUE(third.srq.arm_limit(5));
  EXPECT_TRUE(third.device.wait_async_event(10s));
  auto listener = device_.listen(kLoopback).value();
  auto asks = pd_.create_qp(cq_).value();
  ASSERT_TRUE(asks.start_connect(listener.endpoint()));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->accept(b_));
}

TEST_F(DevicesOfOneAdapter, ObjectsOfAnotherAreRefused) {
  Second second;
  const auto of_queue = pd_.create_qp(second.cq);
  ASSERT_FALSE(of_queue);
  EXPECT_EQ(of_queue.error().code, std::errc::invalid_argument);
  EXPECT_THAT(of_queue.error().message, HasSubstr("another device's than that of iwarp0"));
  auto listener = device_.listen(kLoopback).value();
  ASSERT_TRUE(a_.start_connect(listener.endpoint()));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  const auto accepted = request->start_accept(second.qp);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(second.qp.state(), verbs::QpState::kIdle);
  EXPECT_TRUE(request->accept(b_)) << "it can still be answered";
}

// The adapter is closed and opened anew between the rounds, also while another thread does so.
TEST(DevicesOfAnAdapter, AreOpenedAndClosedByManyThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int round = 0; round < 20; ++round) {
        const Second opened;
        EXPECT_EQ(opened.qp.state(), verbs::QpState::kIdle);
      }
    });
  }
  for (auto& each : threads) each.join();
  Second last;
  ASSERT_TRUE(last.srq.arm_limit(5));
  EXPECT_TRUE(last.device.wait_async_event(10s));
}

TEST(DevicesOfAnAdapter, LeaveNothingBehindWhenAllAreClosed) {
  {
    const Second first, second;
    EXPECT_GT(living(), 0);
  }
  EXPECT_TRUE(nothing_is_left()) << living();
}

}  // namespace
}  // namespace iwarp::rnic::test
