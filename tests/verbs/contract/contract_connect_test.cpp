// What every provider promises of listeners and of connections that are asked for.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class ConnectContract : public Contract {
 protected:
  // Connects to where there is no listener; the queue pair is told so, and of nothing else.
  void expect_refused(const Endpoint& vacant) {
    End end(client);
    post(end, RecvWr{5, {}});
    ASSERT_TRUE(end.qp->start_connect(vacant));
    ASSERT_TRUE(until([&] { return end.told->count() != 0 && !client.received.empty(); }));
    const bool known = can(Capability::kTellsRefusals) || end.told->count(Kind::kFailed) != 0;
    const ConnectionEvent failed = end.told->first(known ? Kind::kFailed : Kind::kRejected);
    EXPECT_EQ(failed.error.code, std::errc::connection_refused) << failed.error.message;
    EXPECT_FALSE(failed.error.message.empty());
    settle();
    EXPECT_EQ(end.told->count(), 1U);
    EXPECT_EQ(end.qp->state(), QpState::kError);
    EXPECT_EQ(ids(client.received), std::vector<std::uint64_t>{5}) << "flushed once";
    EXPECT_EQ(client.received[0].status, Status::kFlushed);
  }
};
IWARP_IN_EVERY_WORLD(ConnectContract);

TEST_P(ConnectContract, AListenerAtPort0HasAPort) {
  const Listening one = listen();
  const Listening other = listen();
  EXPECT_NE(one.endpoint().port(), 0);
  EXPECT_NE(one.endpoint().port(), other.endpoint().port());
  EXPECT_EQ(one.endpoint().address(), world->listen_at().address());
}

TEST_P(ConnectContract, APortIsListenedAtOnce) {
  const Listening one = listen();
  const auto other = world->server().listen(one.endpoint());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, std::errc::address_in_use) << other.error().message;
}

TEST_P(ConnectContract, APortIsFreeWhenItsListenerIsDestroyed) {
  std::optional<Listening> one(listen());
  const Endpoint at = one->endpoint();
  one.reset();
  const auto again = world->server().listen(at);
  EXPECT_TRUE(again) << again.error().message;
}

TEST_P(ConnectContract, APortWithoutAListenerRefuses) {
  expect_refused({world->listen_at().address(), 1});
}

TEST_P(ConnectContract, ADestroyedListenerRefuses) {
  std::optional<Listening> one(listen());
  const Endpoint at = one->endpoint();
  one.reset();
  expect_refused(at);
}

TEST_P(ConnectContract, ARequestTellsOfThePeer) {
  End left(client);
  Listening listening = listen();
  const auto request = ask(left, listening, {.private_data = {}, .ird = 3, .ord = 5});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->info().local, listening.endpoint());
  EXPECT_NE(request->info().remote.port(), 0);
  EXPECT_EQ(request->info().ird, 3);
  EXPECT_EQ(request->info().ord, 5);
  EXPECT_TRUE(request->private_data().empty());
}

TEST_P(ConnectContract, BothAreToldOnceAndOfTheSameConnection) {
  End left(client);
  End right(server);
  ASSERT_TRUE(connect(left, right));
  const ConnectionInfo here = left.told->first(Kind::kEstablished).info;
  const ConnectionInfo there = right.told->first(Kind::kEstablished).info;
  EXPECT_EQ(here.local, there.remote);
  EXPECT_EQ(here.remote, there.local);
  EXPECT_EQ(here.mpa_revision, there.mpa_revision);
  EXPECT_EQ(here.crc, there.crc);
  settle();
  EXPECT_EQ(left.told->count(), 1U);
  EXPECT_EQ(right.told->count(), 1U);
  EXPECT_EQ(left.qp->state(), QpState::kRts);
  EXPECT_EQ(right.qp->state(), QpState::kRts);
}

TEST_P(ConnectContract, EitherEndMaySendFirst) {
  End left(client);
  End right(server);
  ASSERT_TRUE(connect(left, right));
  expect_service(right, left);
  expect_service(left, right);
}

TEST_P(ConnectContract, AConnectedQueuePairDoesNotConnectAgain) {
  End left(client);
  End right(server);
  ASSERT_TRUE(connect(left, right));
  const Listening other = listen();
  EXPECT_EQ(refusal(left.qp->start_connect(other.endpoint())), std::errc::already_connected);
  expect_service(left, right);
}

TEST_P(ConnectContract, ARequestIsAnsweredOnce) {
  End left(client);
  End right(server);
  End idle(server);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request);
  ASSERT_TRUE(request->start_accept(*right.qp));
  EXPECT_EQ(refusal(request->start_accept(*idle.qp)), std::errc::connection_already_in_progress);
  EXPECT_EQ(refusal(request->reject()), std::errc::connection_already_in_progress);
  EXPECT_EQ(idle.qp->state(), QpState::kIdle);
  ASSERT_TRUE(until([&] { return left.told->has(Kind::kEstablished); }));
  expect_service(left, right);
}

TEST_P(ConnectContract, AConnectedQueuePairAcceptsNoOther) {
  End left(client);
  End right(server);
  ASSERT_TRUE(connect(left, right));
  End second(client);
  End idle(server);
  Listening listening = listen();
  auto request = ask(second, listening);
  ASSERT_TRUE(request);
  EXPECT_EQ(refusal(request->start_accept(*right.qp)), std::errc::already_connected);
  const auto accepted = request->start_accept(*idle.qp);  // the request is still to be answered
  ASSERT_TRUE(accepted) << accepted.error().message;
  ASSERT_TRUE(until([&] { return second.told->has(Kind::kEstablished); }));
  expect_service(second, idle);
  expect_service(left, right);
}

TEST_P(ConnectContract, AnAcceptedEndMaySendFirst) {
  End left(client);
  End right(server);
  const Bytes content = pattern(100);
  const Sge gather = server.buffer(content).sge();
  Buffer& sink = client.buffer(content.size());
  const Sge scatter = sink.sge();
  post(left, RecvWr{1, {&scatter, 1}});
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->start_accept(*right.qp));
  if (!can(Capability::kPostsWhenAccepted)) {
    ASSERT_TRUE(until([&] { return right.told->count(Kind::kEstablished) != 0; }));
  }
  post(right, send_of(2, {&gather, 1}));
  ASSERT_TRUE(until([&] { return !client.received.empty() && !server.sent.empty(); }));
  EXPECT_EQ(client.received[0].status, Status::kSuccess);
  EXPECT_EQ(server.sent[0].status, Status::kSuccess);
  EXPECT_EQ(sink.content(), content);
}

TEST_P(ConnectContract, NothingCompletesBeforeTheHandlerWasTold) {
  IWARP_NEEDS(Capability::kNothingBeforeEstablished);
  End left(client);
  End right(server);
  std::size_t early = 0;
  right.told->then = [&](const ConnectionEvent&) {
    Completion some[4];
    early += server.recv_cq->poll(some) + server.send_cq->poll(some);
  };
  for (std::uint64_t i = 0; i < 3; ++i) post(right, RecvWr{i, {}});
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->start_accept(*right.qp));
  // Not until(), which would take completions while the handler looks for them.
  ASSERT_TRUE(world->until([&] { return left.told->has(Kind::kEstablished); }));
  for (std::uint64_t i = 0; i < 3; ++i) post(left, send_of(i, {}));
  ASSERT_TRUE(world->until([&] { return right.told->has(Kind::kEstablished); }));
  ASSERT_TRUE(until([&] { return server.received.size() + early >= 3; }));
  EXPECT_EQ(early, 0U);
}

TEST_P(ConnectContract, AQueuePairMayBeDestroyedWhileItConnects) {
  Listening listening = listen();
  {
    End left(client);
    ASSERT_TRUE(left.qp->start_connect(listening.endpoint()));
  }
  settle();
  End other(client);  // behind it comes the next as ever
  ASSERT_TRUE(other.qp->start_connect(listening.endpoint()));
  std::deque<End> accepted;  // the request of the one that is gone, it may be, and the other's
  ASSERT_TRUE(until([&] {
    while (listening.has_request()) {
      static_cast<void>(listening.take().start_accept(*accepted.emplace_back(server).qp));
    }
    return other.told->has(Kind::kEstablished);
  }));
}

}  // namespace
}  // namespace iwarp::verbs::contract
