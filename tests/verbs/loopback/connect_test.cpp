#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstring>

#include "support/octets.hpp"
#include "verbs/loopback_support.hpp"

// Connections as a program sees them: made, refused, rejected, too late, ended.
namespace iwarp::verbs::test {
namespace {

using testing::HasSubstr;

using iwarp::test::octets;

Endpoint loopback(std::uint16_t port = 0) { return {Address::loopback(), port}; }

class Connect : public testing::Test {
 protected:
  // Answers the next request with what `answer` does.
  template <typename Answer>
  void answer_next(Answer answer) {
    acceptor = std::thread([this, answer] {
      auto request = listener.next(kPatience);
      if (request) answer(*request);
    });
  }
  ~Connect() override {
    if (acceptor.joinable()) acceptor.join();
  }

  Side client, server;
  Listener listener = must(server.device.listen(loopback()));
  QueuePair client_qp = client.make_qp();
  QueuePair server_qp = server.make_qp();
  std::thread acceptor;
};

TEST_F(Connect, PrivateDataGoesBothWays) {
  std::vector<std::byte> asked;
  answer_next([&](ConnectionRequest& request) {
    asked.assign(request.private_data().begin(), request.private_data().end());
    ConnectOptions options;
    options.private_data = octets("welcome");
    EXPECT_TRUE(request.accept(server_qp, options));
  });
  ConnectOptions options;
  options.private_data = octets("hello");
  const auto connected = client_qp.connect(listener.endpoint(), options);
  acceptor.join();
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_EQ(asked, octets("hello"));
  EXPECT_EQ(connected->private_data, octets("welcome"));
  EXPECT_EQ(connected->remote, listener.endpoint());
  EXPECT_EQ(client_qp.info().private_data, octets("welcome"));
  EXPECT_EQ(client_qp.info().local, connected->local);
  EXPECT_EQ(server_qp.info().private_data, octets("hello"));
}

TEST_F(Connect, MostPrivateDataFits) {
  const std::size_t most = client.device.attributes().max_private_data;
  EXPECT_EQ(most, 508U);
  answer_next([&](ConnectionRequest& request) {
    ConnectOptions options;
    options.private_data.assign(request.private_data().begin(), request.private_data().end());
    EXPECT_TRUE(request.accept(server_qp, options));
  });
  ConnectOptions options;
  options.private_data.assign(most, std::byte{0x3F});
  const auto connected = client_qp.connect(listener.endpoint(), options);
  acceptor.join();
  ASSERT_TRUE(connected) << connected.error().message;
  EXPECT_EQ(connected->private_data, options.private_data);
}

TEST_F(Connect, TooMuchPrivateDataIsRefusedAtOnce) {
  ConnectOptions options;
  options.private_data.assign(client.device.attributes().max_private_data + 1, std::byte{0});
  const auto connected = client_qp.connect(listener.endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::invalid_argument);
  EXPECT_EQ(client_qp.state(), QpState::kIdle);
}

TEST_F(Connect, RejectionIsReportedWithItsPrivateData) {
  std::atomic<int> rejected{0};
  std::vector<std::byte> why;
  QpOptions options;
  options.on_event = [&](const ConnectionEvent& event) {
    if (event.kind != ConnectionEvent::Kind::kRejected) return;
    why = event.info.private_data;
    rejected.fetch_add(1);
  };
  QueuePair qp = client.make_qp(options);
  answer_next([](ConnectionRequest& request) { EXPECT_TRUE(request.reject(octets("full"))); });
  const auto connected = qp.connect(listener.endpoint());
  acceptor.join();
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::connection_refused);
  EXPECT_EQ(qp.info().private_data, octets("full")) << "the handler may come later";
  EXPECT_TRUE(eventually([&] { return rejected.load() == 1; }));
  EXPECT_EQ(why, octets("full"));
  EXPECT_EQ(qp.state(), QpState::kError);
}

// A server that takes one request and ends: what it said last still arrives, as a rejection and not
// as the end of a connection.
TEST(Rejection, ArrivesThoughItsDeviceEndsRightBehindIt) {
  Side client;
  for (int i = 0; i < 10; ++i) {
    auto device = std::make_unique<Device>(must(Device::open()));
    auto listener = std::make_unique<Listener>(must(device->listen(loopback())));
    const Endpoint at = listener->endpoint();
    std::thread server([&] {
      auto request = listener->next(kPatience);
      listener.reset();
      EXPECT_TRUE(request && request->reject(octets("closed")));
      request.reset();
      device.reset();
    });
    std::vector<std::byte> why;
    QpOptions options;
    options.on_event = [&](const ConnectionEvent& event) { why = event.info.private_data; };
    QueuePair qp = client.make_qp(std::move(options));
    const auto connected = qp.connect(at);
    server.join();
    ASSERT_FALSE(connected);
    qp.drain(kPatience);  // the handler has returned
    ASSERT_EQ(why, octets("closed")) << connected.error().message;
  }
}

TEST_F(Connect, RequestThatIsDroppedIsRejected) {
  answer_next([](ConnectionRequest& request) { const auto dropped = std::move(request); });
  const auto connected = client_qp.connect(listener.endpoint());
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::connection_refused);
}

TEST_F(Connect, NobodyListeningIsRefused) {
  Endpoint gone;
  { gone = must(server.device.listen(loopback())).endpoint(); }
  const auto connected = client_qp.connect(gone);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::connection_refused);
  EXPECT_THAT(connected.error().message, HasSubstr(std::to_string(gone.port())));
  EXPECT_EQ(client_qp.state(), QpState::kError);
}

TEST_F(Connect, PeerThatAnswersNothingIsGivenUpInTime) {
  // The system completes the TCP handshake; nobody speaks MPA.
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor silent(context, loopback());
  ConnectOptions options;
  options.timeout = 100ms;
  const auto connected = client_qp.connect(silent.local_endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::timed_out);
}

TEST_F(Connect, WhoConnectsPostsOnlyOnceConnected) {
  ASSERT_TRUE(client_qp.start_connect(listener.endpoint()));
  EXPECT_EQ(client_qp.state(), QpState::kConnecting);
  const auto posted = client_qp.post_send(SendWr{});
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::not_connected);
}

TEST_F(Connect, RequestThatNobodyAnswersIsGivenUpInTime) {
  ConnectOptions options;
  options.timeout = 100ms;
  const auto connected = client_qp.connect(listener.endpoint(), options);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, std::errc::timed_out);
}

TEST_F(Connect, OnlyAnIdleQueuePairConnects) {
  answer_next([&](ConnectionRequest& request) { EXPECT_TRUE(request.accept(server_qp)); });
  ASSERT_TRUE(client_qp.connect(listener.endpoint()));
  acceptor.join();
  const auto again = client_qp.connect(listener.endpoint());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, std::errc::already_connected);
  EXPECT_EQ(client_qp.state(), QpState::kRts);
  client_qp.disconnect();
  EXPECT_TRUE(client_qp.wait_disconnected(kPatience));
  EXPECT_FALSE(client_qp.connect(listener.endpoint())) << "a queue pair has one life";
}

TEST_F(Connect, BusyQueuePairDoesNotAccept) {
  answer_next([&](ConnectionRequest& request) { EXPECT_TRUE(request.accept(server_qp)); });
  ASSERT_TRUE(client_qp.connect(listener.endpoint()));
  acceptor.join();
  answer_next([&](ConnectionRequest& request) {
    const auto accepted = request.accept(server_qp);
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().code, std::errc::already_connected);
    EXPECT_TRUE(request.reject());
  });
  QueuePair second = client.make_qp();
  EXPECT_FALSE(second.connect(listener.endpoint()));
  EXPECT_EQ(server_qp.state(), QpState::kRts);
}

TEST_F(Connect, BothSidesAgreeOnWhatIsInForce) {
  ConnectionInfo there;
  answer_next([&](ConnectionRequest& request) {
    ConnectOptions options;
    options.ird = 3;
    options.ord = 100;
    options.require_crc = false;
    options.want_markers = true;
    there = must(request.accept(server_qp, options));
  });
  ConnectOptions options;
  options.ird = 7;
  options.ord = 9;
  const auto here = client_qp.connect(listener.endpoint(), options);
  acceptor.join();
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_TRUE(here->crc && there.crc);
  EXPECT_TRUE(here->markers_sent && there.markers_received);
  EXPECT_FALSE(here->markers_received || there.markers_sent);
  EXPECT_LE(here->ord, there.ird);
  EXPECT_LE(there.ord, here->ird);
  EXPECT_EQ(there.peer_ird, options.ird);
  EXPECT_EQ(there.peer_ord, options.ord);
  EXPECT_EQ(here->peer_ird, there.ird);
  EXPECT_EQ(here->peer_ord, there.ord);
  EXPECT_EQ(here->mpa_revision, 2);
}

class Modes : public testing::TestWithParam<std::tuple<bool, bool, bool, int>> {};
INSTANTIATE_TEST_SUITE_P(CrcMarkersRevision, Modes,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Bool(),
                                          testing::Values(1, 2)));

TEST_P(Modes, EveryOperationWorks) {
  ConnectOptions connect;
  ConnectOptions accept;
  connect.require_crc = accept.require_crc = std::get<0>(GetParam());
  connect.want_markers = std::get<1>(GetParam());
  accept.want_markers = std::get<2>(GetParam());
  connect.mpa_revision = static_cast<std::uint8_t>(std::get<3>(GetParam()));
  LoopbackPair pair(connect, accept);
  Buffer own(pair.client.pd, 300'000, Access::kLocalWrite, std::byte{0x11});
  Buffer target(pair.server.pd, 300'000, Access::kLocalWrite | Access::kRemoteWrite);
  Buffer source(pair.server.pd, 300'000, Access::kRemoteRead, std::byte{0x22});
  Buffer inbox(pair.server.pd, 300'000, Access::kLocalWrite);
  Buffer sink(pair.client.pd, 300'000, Access::kLocalWrite);
  const Sge from = own.sge();
  const Sge into = sink.sge();
  const Sge in = inbox.sge();
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {&in, 1}}));
  const SendWr list[] = {write_of(1, {&from, 1}, target), read_of(2, {&into, 1}, source),
                         send_of(3, {&from, 1})};
  ASSERT_TRUE(pair.client_qp.post_send(list));
  std::vector<Completion> received;
  std::thread server([&] { received = poll_for(pair.server.cq, 1); });
  const auto sent = poll_for(pair.client.cq, 3);
  server.join();
  ASSERT_EQ(sent.size(), 3U);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].byte_length, 300'000U);
  EXPECT_EQ(target.memory, own.memory);
  EXPECT_EQ(inbox.memory, own.memory);
  EXPECT_EQ(sink.memory, source.memory);
  EXPECT_EQ(pair.client_info.crc, connect.require_crc);
  EXPECT_EQ(pair.client_info.mpa_revision, connect.mpa_revision);
}

// ---- The end ----

TEST(Disconnect, FromEitherSideIsGracefulForBoth) {
  for (const bool by_client : {true, false}) {
    std::atomic<int> graceful{0};
    QpOptions options;
    options.on_event = [&](const ConnectionEvent& event) {
      if (event.kind != ConnectionEvent::Kind::kDisconnected) return;
      EXPECT_FALSE(event.error.code) << event.error.message;
      graceful.fetch_add(1);
    };
    LoopbackPair pair({}, {}, options);
    (by_client ? pair.client_qp : pair.server_qp).disconnect();
    EXPECT_TRUE(pair.client_qp.wait_disconnected(kPatience));
    EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
    EXPECT_TRUE(eventually([&] { return graceful.load() == 2; }));
    EXPECT_EQ(pair.client_qp.state(), QpState::kError);
  }
}

TEST(Disconnect, WhatWasPostedBeforeArrives) {
  LoopbackPair pair;
  Buffer source(pair.client.pd, 5 << 20, Access::kNone, std::byte{0x44});
  Buffer target(pair.server.pd, 5 << 20, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  ASSERT_TRUE(pair.client_qp.post_send(write_of(1, {&from, 1}, target)));
  pair.client_qp.disconnect();
  EXPECT_TRUE(pair.client_qp.wait_disconnected(kPatience));
  EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
  EXPECT_EQ(poll_for(pair.client.cq, 1).at(0).status, Status::kSuccess);
  EXPECT_EQ(target.memory, source.memory);
}

TEST(Disconnect, AbortIsSeenAsALostConnection) {
  std::atomic<int> broken{0};
  QpOptions options;
  options.on_event = [&](const ConnectionEvent& event) {
    if (event.kind == ConnectionEvent::Kind::kDisconnected && event.error.code) broken.fetch_add(1);
  };
  LoopbackPair pair({}, {}, options);
  pair.client_qp.abort();
  EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
  EXPECT_TRUE(eventually([&] { return broken.load() == 2; }));
}

TEST(Overruns, OfOneQueueLeaveOtherQueuePairsAlone) {
  LoopbackPair pair;
  CompletionQueue small = must(pair.server.device.create_cq(1));
  QueuePair victim = must(pair.server.pd.create_qp(small));
  QueuePair peer = pair.client.make_qp();
  auto listener = must(pair.server.device.listen(Endpoint(Address::loopback(), 0)));
  std::thread acceptor([&] {
    auto request = listener.next(kPatience);
    if (request) static_cast<void>(request->accept(victim));
  });
  ASSERT_TRUE(peer.connect(listener.endpoint()));
  acceptor.join();
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(victim.post_receive(RecvWr{i, {}}));
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(peer.post_send(send_of(i, {})));
  EXPECT_TRUE(victim.wait_disconnected(kPatience));
  const auto event = pair.server.device.wait_async_event(kPatience);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, AsyncEvent::Kind::kCqOverrun);
  EXPECT_EQ(event->number, small.number());
  EXPECT_EQ(pair.server_qp.state(), QpState::kRts);
  EXPECT_FALSE(pair.server.device.wait_async_event(0ms));
}

}  // namespace
}  // namespace iwarp::verbs::test
