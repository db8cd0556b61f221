#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <optional>

#include "rnic_support.hpp"

/// Start-ups that fail, and connections that the adapter loses.
namespace iwarp::rnic::test {
namespace {

using testing::HasSubstr;
using verbs::QpState;
using verbs::Status;

// A step of a start-up that the system refuses, and what the program reads.
struct Step {
  const char* function;
  int error;
};

class AdapterStartUp : public Adapters, public testing::WithParamInterface<Step> {};

TEST_P(AdapterStartUp, ThatIsRefusedFailsWithTheReason) {
  auto listener = device_.listen(kLoopback).value();
  const Step& step = GetParam();
  const FailingCalls failing(step.function, step.error);
  const std::array receive{region_.sge(0, 8)};
  ASSERT_TRUE(a_.post_receive({.wr_id = 5, .sges = receive}));
  const auto connected = a_.connect(listener.endpoint());
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code.value(), step.error);
  EXPECT_THAT(connected.error().message, HasSubstr("iwarp0: "));
  EXPECT_EQ(a_.state(), QpState::kError);
  const auto flushed = completions(1);
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].wr_id, 5U);
  EXPECT_EQ(flushed[0].status, Status::kFlushed);
  EXPECT_TRUE(a_.drain(10s));
}

INSTANTIATE_TEST_SUITE_P(Steps, AdapterStartUp,
                         testing::Values(Step{"rdma_create_id", ENOMEM},
                                         Step{"rdma_resolve_addr", ENODEV},
                                         Step{"rdma_resolve_route", EINVAL},
                                         Step{"rdma_connect", ECONNREFUSED}),
                         [](const auto& of) { return std::string(of.param.function); });

class AdapterConnections : public Adapters {};

TEST_F(AdapterConnections, IsTriedAgainAsLongAsTheProgramSays) {
  auto listener = device_.listen(kLoopback).value();
  const FailingCalls failing("rdma_connect", ECONNREFUSED, 3);
  verbs::ConnectOptions options;
  options.retry_refused = 10s;
  ASSERT_TRUE(a_.start_connect(listener.endpoint(), options));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->accept(b_));
}

// librdmacm draws ports without a look at those of TCP sockets, and siw binds one to it.
TEST_F(AdapterConnections, APortThatIsTakenIsDrawnAgain) {
  for (const int taken : {EADDRINUSE, EADDRNOTAVAIL}) {
    auto listener = device_.listen(kLoopback).value();
    verbs::QueuePair from = pd_.create_qp(cq_).value(), to = pd_.create_qp(cq_).value();
    const FailingCalls failing("rdma_connect", taken, 3);
    ASSERT_TRUE(from.start_connect(listener.endpoint()));
    auto request = listener.next(10s);
    ASSERT_TRUE(request) << taken;
    EXPECT_TRUE(request->accept(to));
  }
}

TEST_F(AdapterConnections, IfAllPortsAreTakenItSaysSo) {
  auto listener = device_.listen(kLoopback).value();
  const FailingCalls failing("rdma_connect", EADDRINUSE);
  const auto connected = a_.connect(listener.endpoint());
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::address_in_use);
}

TEST_F(AdapterConnections, APortThatTheProgramHasChosenIsNotDrawnAgain) {
  auto listener = device_.listen(kLoopback).value();
  const FailingCalls failing("rdma_connect", EADDRINUSE, 1);
  verbs::ConnectOptions options;
  options.from = verbs::Endpoint::parse("127.0.0.1:21837").value();
  options.timeout = 2s;
  const auto connected = a_.connect(listener.endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::address_in_use);
}

TEST_F(AdapterConnections, AListenersPortThatIsTakenIsDrawnAgain) {
  {
    const FailingCalls failing("rdma_listen", EADDRINUSE, 3);
    EXPECT_TRUE(device_.listen(kLoopback));
  }
  const FailingCalls failing("rdma_listen", EADDRINUSE);
  const auto listener = device_.listen(kLoopback);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, std::errc::address_in_use);
}

TEST_F(AdapterConnections, APeerThatDoesNotAnswerIsGivenUp) {
  auto listener = device_.listen(kLoopback).value();
  verbs::ConnectOptions options;
  options.timeout = 100ms;
  const auto connected = a_.connect(listener.endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::timed_out);
}

// The kernel owes an outcome: what it works with is destroyed behind that.
TEST_F(AdapterConnections, AQueuePairThatAsksCanBeDestroyed) {
  auto listener = device_.listen(kLoopback).value();
  std::optional<verbs::QueuePair> asks(pd_.create_qp(cq_).value());
  const std::array receive{region_.sge(0, 8)};
  ASSERT_TRUE(asks->post_receive({.wr_id = 5, .sges = receive}));
  ASSERT_TRUE(asks->start_connect(listener.endpoint()));
  const auto request = listener.next(10s);
  ASSERT_TRUE(request);
  asks.reset();
  EXPECT_FALSE(cq_.wait(20ms)) << "nothing is told of one that was destroyed";
}

// What is inside of the system's library when the queue pair goes ends it when it is out.
TEST_F(AdapterConnections, AQueuePairWhoseCallDoesNotReturnCanBeDestroyed) {
  const long before = living();
  auto listener = device_.listen(kLoopback).value();
  std::optional<verbs::QueuePair> asks(pd_.create_qp(cq_).value());
  hold_calls("rdma_connect");
  ASSERT_TRUE(asks->start_connect(listener.endpoint()));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  ASSERT_TRUE(request->accept(b_));
  ASSERT_TRUE(eventually([&] { return asks->state() != QpState::kConnecting; }));
  ASSERT_EQ(asks->state(), QpState::kRts);
  const auto began = std::chrono::steady_clock::now();
  asks.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_TRUE(b_.drain(10s));
  heal();
  request.reset();
  { const auto gone = std::move(listener); }
  EXPECT_TRUE(eventually([&] { return living() <= before; })) << living();
}

TEST_F(AdapterConnections, AnAnswerThatCannotBeGivenIsTold) {
  auto listener = device_.listen(kLoopback).value();
  ASSERT_TRUE(a_.start_connect(listener.endpoint()));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  const FailingCalls failing("rdma_accept", ENOMEM);
  const auto accepted = request->accept(b_);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(b_.state(), QpState::kError);
}

TEST_F(AdapterConnections, ARequestIsAnsweredOnce) {
  auto listener = device_.listen(kLoopback).value();
  ASSERT_TRUE(a_.start_connect(listener.endpoint()));
  auto request = listener.next(10s);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->reject_and_keep().error().code, std::errc::not_supported);
  EXPECT_TRUE(request->reject());
  EXPECT_EQ(request->start_accept(b_).error().code, std::errc::connection_already_in_progress);
  EXPECT_EQ(b_.state(), QpState::kIdle);
}

TEST_F(AdapterConnections, AdapterThatIsRemovedEndsThem) {
  connect();
  const std::array receive{region_.sge(0, 8)};
  for (std::uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE(a_.post_receive({.wr_id = id, .sges = receive}));
  }
  change_events(RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL);
  b_.abort();
  EXPECT_TRUE(a_.wait_disconnected(10s));
  EXPECT_EQ(a_.state(), QpState::kError);
  EXPECT_THAT(a_.diagnosis().to_string(), HasSubstr("iwarp0 has been removed"));
  const auto flushed = completions(3);
  ASSERT_EQ(flushed.size(), 3U);
  for (std::uint64_t id = 0; id < 3; ++id) {
    EXPECT_EQ(flushed[id].wr_id, id);
    EXPECT_EQ(flushed[id].status, Status::kFlushed);
  }
  EXPECT_FALSE(cq_.wait(0ms));
}

TEST_F(AdapterConnections, ADisconnectThatIsRefusedEndsThemAllTheSame) {
  connect();
  const FailingCalls failing("rdma_disconnect", EINVAL);
  a_.disconnect();
  EXPECT_TRUE(a_.wait_disconnected(10s));
  EXPECT_TRUE(a_.drain(10s));
}

TEST_F(AdapterConnections, AFailedRequestIsInTheDiagnosisWithTheAdaptersNumber) {
  connect();
  const std::array source{region_.sge(0, 8)};
  ASSERT_TRUE(a_.post_send({.wr_id = 3,
                            .opcode = verbs::Opcode::kRead,
                            .sges = source,
                            .remote_stag = Stag{0x12345600},
                            .remote_offset = 0}));
  EXPECT_TRUE(a_.wait_disconnected(10s));
  const auto failed = completions(1);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].wr_id, 3U);
  EXPECT_NE(failed[0].status, Status::kSuccess);
  EXPECT_THAT(a_.diagnosis().to_string(), HasSubstr("iwarp0"));
  EXPECT_FALSE(a_.diagnosis().graceful);
}

// Whether there is a window or a region of that key is this side's affair: adapters do not look.
TEST_F(AdapterConnections, ABindOfWhatIsNotThereIsRefused) {
  connect();
  const verbs::BindWr nothing{Stag{0x12345600}, region_.lkey(), memory_.data(), 8, {}};
  verbs::SendWr bind{.opcode = verbs::Opcode::kBindWindow, .bind = &nothing};
  const std::array requests{verbs::SendWr{}, bind, verbs::SendWr{}};
  const auto posted = a_.post_send(requests, verbs::Posting::kAllOrNone);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 1U);
}

TEST_F(AdapterConnections, RequestsOfWhichTheProgramIsNotToldMakeRoomAgain) {
  connect();
  const std::array source{region_.sge(0, 8)};
  const verbs::SendWr silent{.opcode = verbs::Opcode::kWrite,
                             .flags = verbs::SendFlags::kNone,
                             .sges = source,
                             .remote_stag = region_.rkey(),
                             .remote_offset = region_.remote().offset + 64};
  const auto until = std::chrono::steady_clock::now() + 60s;
  for (int posted = 0; posted < 10'000 && std::chrono::steady_clock::now() < until;) {
    const auto done = a_.post_send(silent);
    if (done) ++posted;
    if (!done) {
      ASSERT_EQ(done.error().code, std::errc::not_enough_memory);
      std::this_thread::yield();
    }
  }
  a_.disconnect();
  EXPECT_TRUE(a_.wait_disconnected(10s));
  EXPECT_TRUE(a_.diagnosis().graceful) << a_.diagnosis().to_string();
  EXPECT_FALSE(cq_.wait(0ms));
}

}  // namespace
}  // namespace iwarp::rnic::test
