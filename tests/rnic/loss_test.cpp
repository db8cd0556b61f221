#include <gmock/gmock.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "rnic_support.hpp"

/// An adapter that fails, or is removed, while programs use it.
namespace iwarp::rnic::test {
namespace {

using testing::HasSubstr;
using verbs::AsyncEvent;
using verbs::QpState;
using verbs::Status;

class LostAdapter : public Adapters {
 protected:
  /// Has the adapter say something that is about no object.
  void say(ibv_event_type what) {
    change_async_events(IBV_EVENT_SRQ_LIMIT_REACHED, what);
    ASSERT_TRUE(srq_.arm_limit(5));
  }
  void expect_all_is_refused() {
    const auto is_refused = [](const auto& answer) {
      EXPECT_FALSE(answer);
      if (answer) return;
      EXPECT_EQ(answer.error().code, std::errc::no_such_device);
      EXPECT_THAT(answer.error().message, HasSubstr("iwarp0 has failed"));
    };
    is_refused(device_.alloc_pd());
    is_refused(device_.create_cq(8));
    is_refused(device_.listen(kLoopback));
    is_refused(pd_.register_memory(memory_, verbs::Access::kLocalWrite));
    is_refused(pd_.create_srq());
    is_refused(pd_.create_qp(cq_));
    is_refused(idle_.connect(kLoopback));
  }

  verbs::SharedReceiveQueue srq_ = pd_.create_srq().value();
  verbs::QueuePair idle_ = pd_.create_qp(cq_).value();
};

TEST_F(LostAdapter, EndsItsConnectionsAndRefusesAllThatComes) {
  verbs::Device other(open_adapter(kAdapter).value());
  connect();
  const std::array receive{region_.sge(0, 8)};
  ASSERT_TRUE(a_.post_receive({.wr_id = 5, .sges = receive}));
  say(IBV_EVENT_DEVICE_FATAL);
  for (verbs::Device* device : {&device_, &other}) {
    const auto event = device->wait_async_event(10s);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, AsyncEvent::Kind::kDeviceFatal);
    EXPECT_EQ(event->number, 0U);
    EXPECT_THAT(event->message, HasSubstr("iwarp0 has failed"));
  }
  for (verbs::QueuePair* qp : {&a_, &b_}) {
    EXPECT_TRUE(qp->wait_disconnected(10s));
    EXPECT_EQ(qp->state(), QpState::kError);
    EXPECT_THAT(qp->diagnosis().to_string(), HasSubstr("iwarp0 has failed"));
  }
  const auto flushed = completions(1);
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].status, Status::kFlushed);
  expect_all_is_refused();
  heal();
  const auto anew = open_adapter(kAdapter);
  ASSERT_FALSE(anew) << "it is the same one as long as it is open";
  EXPECT_EQ(anew.error().code, std::errc::no_such_device);
  EXPECT_THAT(anew.error().message, HasSubstr("close what is open of it"));
}

TEST_F(LostAdapter, EndsAStartUp) {
  auto listener = device_.listen(kLoopback).value();
  ASSERT_TRUE(a_.start_connect(listener.endpoint()));
  const auto request = listener.next(10s);
  ASSERT_TRUE(request);
  say(IBV_EVENT_DEVICE_FATAL);
  ASSERT_TRUE(device_.wait_async_event(10s));
  ASSERT_TRUE(eventually([&] { return a_.state() != QpState::kConnecting; }));
  EXPECT_EQ(a_.state(), QpState::kError);
  EXPECT_THAT(a_.diagnosis().to_string(), HasSubstr("iwarp0 has failed"));
}

// A removal is told to each connection, and of all of them to the program once.
TEST_F(LostAdapter, ByARemovalIsToldOnce) {
  connect();
  change_events(RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL);
  b_.abort();
  EXPECT_TRUE(a_.wait_disconnected(10s));
  const auto event = device_.wait_async_event(10s);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, AsyncEvent::Kind::kDeviceFatal);
  EXPECT_THAT(event->message, HasSubstr("iwarp0 has been removed"));
  EXPECT_FALSE(device_.wait_async_event(50ms));
  expect_all_is_refused();
}

TEST_F(LostAdapter, APortWithoutALinkLosesNothing) {
  connect();
  say(IBV_EVENT_PORT_ERR);
  const auto event = device_.wait_async_event(10s);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, AsyncEvent::Kind::kPathLost);
  EXPECT_EQ(a_.state(), QpState::kRts);
  say(IBV_EVENT_PORT_ACTIVE);
  EXPECT_FALSE(device_.wait_async_event(20ms)) << "there is no event for that";
  EXPECT_TRUE(pd_.create_qp(cq_));
}

}  // namespace
}  // namespace iwarp::rnic::test
