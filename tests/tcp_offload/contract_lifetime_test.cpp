// What every device promises about cancelling and destroying.
#include <algorithm>

#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class LifetimeContract : public Contract {};
IWARP_ON_EVERY_DEVICE(LifetimeContract);

// A write that cannot end: nobody reads at the other side.
class EndlessWrite {
 public:
  explicit EndlessWrite(Connection& connection) {
    connection.async_write(bytes_, outcome.transfer());
  }
  Outcome outcome;

 private:
  const std::vector<std::byte> bytes_ = pattern(16U << 20U);
};

TEST_P(LifetimeContract, CancelReportsEachOperationOnceAndLeavesTheConnectionOpen) {
  const auto sent = pattern(3);
  std::vector<std::byte> room(3);
  const Connections two = connect();
  Outcome read;
  two.client->async_read(room, read.transfer());
  const EndlessWrite write(*two.client);
  harness_->settle();
  two.client->cancel();
  EXPECT_EQ(read.calls + write.outcome.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return read.calls + write.outcome.calls == 2; }));
  EXPECT_EQ(read.error, std::errc::operation_canceled);
  EXPECT_EQ(write.outcome.error, std::errc::operation_canceled);

  Outcome written;
  two.server->async_write(sent, written.transfer());
  two.client->async_read(room, read.transfer());
  ASSERT_TRUE(run_until([&] { return read.calls == 2 && written.calls == 1; }));
  EXPECT_FALSE(read.error);
  EXPECT_EQ(room, sent);
  EXPECT_EQ(write.outcome.calls, 1);
}

TEST_P(LifetimeContract, ACancelledReadReportsTheOctetsItHadTaken) {
  const auto sent = pattern(3);
  std::vector<std::byte> room(8);
  const Connections two = connect();
  Outcome read;
  Outcome written;
  Outcome probe;
  two.client->async_read(room, read.transfer());
  two.server->async_write(sent, written.transfer());
  // The echo of a second connection's octets would not prove anything: wait for ours to be taken.
  ASSERT_TRUE(run_until([&] {
    harness_->settle();
    return std::equal(sent.begin(), sent.end(), room.begin());
  }));
  two.client->cancel();
  ASSERT_TRUE(run_until([&] { return read.calls == 1; }));
  EXPECT_EQ(read.error, std::errc::operation_canceled);
  EXPECT_EQ(read.octets, 3U);
}

TEST_P(LifetimeContract, CloseReportsPendingOperationsAsCancelled) {
  std::vector<std::byte> room(3);
  const Connections two = connect();
  Outcome read;
  two.client->async_read_some(room, read.transfer());
  harness_->settle();
  two.client->close();
  EXPECT_EQ(read.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return read.calls == 1; }));
  EXPECT_EQ(read.error, std::errc::operation_canceled);
}

TEST_P(LifetimeContract, NoHandlerOfADestroyedConnectionIsCalled) {
  std::vector<std::byte> room(3);
  Connections two = connect();
  Outcome read;
  two.client->async_read(room, read.transfer());
  const EndlessWrite write(*two.client);
  harness_->settle();
  two.client.reset();
  harness_->settle();
  EXPECT_EQ(read.calls + write.outcome.calls, 0);
}

TEST_P(LifetimeContract, NotEvenAHandlerThatWasAboutToBeCalled) {
  const auto sent = pattern(3);
  std::vector<std::byte> room(3);
  Connections two = connect();
  Outcome read;
  Outcome written;
  two.server->async_write(sent, written.transfer());
  ASSERT_TRUE(run_until([&] { return written.calls == 1; }));
  two.client->async_read(room, read.transfer());
  two.client->cancel();
  two.client.reset();
  harness_->settle();
  EXPECT_EQ(read.calls, 0);
}

TEST_P(LifetimeContract, WhatADroppedHandlerCapturedIsDestroyed) {
  std::vector<std::byte> room(3);
  Connections two = connect();
  auto captured = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = captured;
  two.client->async_read(room, [captured](std::error_code, std::size_t) {});
  captured.reset();
  EXPECT_FALSE(watch.expired());
  two.client.reset();
  harness_->settle();
  EXPECT_TRUE(watch.expired());
}

TEST_P(LifetimeContract, AHandlerMayDestroyItsConnection) {
  std::vector<std::byte> room(3);
  Connections two = connect();
  const EndlessWrite write(*two.client);
  int calls = 0;
  two.client->async_read(room, [&](std::error_code, std::size_t) {
    ++calls;
    two.client.reset();
  });
  two.server.reset();
  ASSERT_TRUE(run_until([&] { return calls == 1; }));
  harness_->settle();
  EXPECT_EQ(write.outcome.calls, 0);
}

TEST_P(LifetimeContract, ClosingAnAcceptorReportsTheAcceptAsCancelled) {
  const auto acceptor = listen();
  Outcome accepted;
  acceptor->async_accept(accepted.connecting());
  harness_->settle();
  acceptor->close();
  EXPECT_EQ(accepted.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return accepted.calls == 1; }));
  EXPECT_EQ(accepted.error, std::errc::operation_canceled);
  acceptor->async_accept(accepted.connecting());
  ASSERT_TRUE(run_until([&] { return accepted.calls == 2; }));
  EXPECT_TRUE(accepted.error);
}

TEST_P(LifetimeContract, NoHandlerOfADestroyedAcceptorIsCalled) {
  auto acceptor = listen();
  Outcome accepted;
  Outcome connected;
  acceptor->async_accept(accepted.connecting());
  const auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  acceptor.reset();
  ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
  harness_->settle();
  EXPECT_EQ(accepted.calls, 0);
}

TEST_P(LifetimeContract, AHandlerMayDestroyItsAcceptor) {
  auto acceptor = listen();
  const Endpoint at = acceptor->local_endpoint();
  int calls = 0;
  acceptor->async_accept([&](std::error_code, std::unique_ptr<Connection>) {
    ++calls;
    acceptor.reset();
  });
  Outcome connected;
  const auto attempt = harness_->client().async_connect(at, connected.connecting());
  ASSERT_TRUE(run_until([&] { return calls == 1; }));
}

TEST_P(LifetimeContract, ACancelledAttemptReportsNoConnection) {
  const auto acceptor = listen();
  Outcome connected;
  const auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  attempt->cancel();
  EXPECT_EQ(connected.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
  EXPECT_EQ(connected.error, std::errc::operation_canceled);
  EXPECT_EQ(connected.connection, nullptr);
  attempt->cancel();
  harness_->settle();
  EXPECT_EQ(connected.calls, 1);
}

TEST_P(LifetimeContract, ADestroyedAttemptIsSilent) {
  const auto acceptor = listen();
  Outcome connected;
  auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  attempt->cancel();
  attempt.reset();
  attempt = harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  attempt.reset();
  harness_->settle();
  EXPECT_EQ(connected.calls, 0);
}

TEST_P(LifetimeContract, AHandlerMayDestroyItsAttempt) {
  const auto acceptor = listen();
  std::unique_ptr<ConnectAttempt> attempt;
  std::unique_ptr<Connection> connection;
  attempt = harness_->client().async_connect(
      acceptor->local_endpoint(), [&](std::error_code, std::unique_ptr<Connection> made) {
        attempt.reset();
        connection = std::move(made);
      });
  ASSERT_TRUE(run_until([&] { return connection != nullptr; }));
  EXPECT_EQ(connection->remote(), acceptor->local_endpoint());
}

TEST_P(LifetimeContract, EverythingMayBeDestroyedWithOperationsPending) {
  std::vector<std::byte> room(3);
  const auto acceptor = listen();
  const Connections two = connect();
  const auto timer = harness_->client().make_timer();
  Outcome any;
  acceptor->async_accept(any.connecting());
  two.client->async_read(room, any.transfer());
  two.server->async_read_some(room, any.transfer());
  timer->async_wait(std::chrono::hours(1), any.waiting());
  const auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), any.connecting());
  harness_->client().post([&any] { ++any.calls; });
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
