#include "verbs/raw_peer.hpp"

// What may be posted when, full queues, and completion queues that overrun.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using Statuses = std::vector<Status>;

std::errc code_of(const Result<void, PostError>& posted) {
  return posted ? std::errc{} : posted.error().code;
}

std::errc try_post(SimEnd& end, const SendWr& request) {
  return code_of(end.qp->post_send({&request, 1}));
}

std::errc try_post(SimEnd& end, const RecvWr& request) {
  return code_of(end.qp->post_receive({&request, 1}));
}

// ---- Not connected ----

class Unconnected : public testing::Test {
 protected:
  TickingNetwork network{1, {}};
  SimEnd end{network.net, {}, 1};
};

TEST_F(Unconnected, IdleQueuePairRefusesRequestsAndTakesReceives) {
  EXPECT_EQ(end.qp->state(), QpState::kIdle);
  EXPECT_EQ(try_post(end, send_of(1, {})), std::errc::not_connected);
  EXPECT_EQ(try_post(end, RecvWr{1, {}}), std::errc{});
  end.turn();
  EXPECT_TRUE(end.sent.empty() && end.received.empty());
}

TEST_F(Unconnected, AcceptedQueuePairTakesRequestsAndFlushesThemIfTheStartUpFails) {
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  EXPECT_EQ(end.qp->state(), QpState::kConnecting);
  EXPECT_FALSE(end.qp->responder()->begin_startup());
  EXPECT_EQ(try_post(end, send_of(1, {})), std::errc{});
  EXPECT_EQ(try_post(end, read_of(2, {}, Stag{1}, 0)), std::errc{});
  end.turn();
  EXPECT_TRUE(end.sent.empty());
  end.finish_startup(Error{std::make_error_code(std::errc::timed_out), "too late"});
  end.turn();
  EXPECT_EQ(statuses(end.sent), (Statuses{Status::kFlushed, Status::kFlushed}));
}

TEST_F(Unconnected, FailedStartUpFlushesReceivesAndReportsOnce) {
  post(end, RecvWr{1, {}});
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.finish_startup(Error{std::make_error_code(std::errc::timed_out), "too late"});
  end.finish_startup(Error{std::make_error_code(std::errc::timed_out), "too late"});
  end.turn();
  EXPECT_EQ(end.qp->state(), QpState::kError);
  EXPECT_EQ(statuses(end.received), Statuses{Status::kFlushed});
  ASSERT_EQ(end.events.size(), 1U);
  EXPECT_EQ(end.events[0].kind, ConnectionEvent::Kind::kFailed);
  EXPECT_EQ(end.events[0].error.message, "too late");
  post(end, send_of(2, {}));
  post(end, RecvWr{3, {}});
  end.turn();
  EXPECT_EQ(statuses(end.sent), Statuses{Status::kFlushed});
  EXPECT_EQ(end.received.size(), 2U);
}

TEST_F(Unconnected, RejectionIsReportedWithWhatThePeerStated) {
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.finish_startup(soft::StartupRejected{pattern(5), 7, std::nullopt, {}, std::nullopt});
  end.turn();
  ASSERT_EQ(end.events.size(), 1U);
  EXPECT_EQ(end.events[0].kind, ConnectionEvent::Kind::kRejected);
  EXPECT_EQ(end.events[0].info.private_data, pattern(5));
  EXPECT_EQ(end.events[0].info.peer_ird, 7);
  EXPECT_FALSE(end.events[0].info.peer_ord);
}

TEST_F(Unconnected, AbortWhileConnectingFailsTheStartUp) {
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.qp->abort();
  end.turn();
  EXPECT_EQ(end.qp->state(), QpState::kError);
  EXPECT_EQ(end.count(ConnectionEvent::Kind::kFailed), 1U);
}

TEST_F(Unconnected, ConnectionThatComesAfterAnAbortIsDropped) {
  ASSERT_TRUE(end.qp->responder()->begin_startup());
  end.qp->abort();
  auto streams = network.net.make_stream_pair();
  soft::RdmaMode mode;
  mode.stream = std::move(streams.connector);
  end.finish_startup(std::move(mode));
  end.turn();
  network.run_until([] {}, [] { return false; }, 1ms);
  std::byte room[1];
  EXPECT_EQ(streams.acceptor->receive(room).status, tcp_offload::IoStatus::kEndOfStream);
  EXPECT_EQ(end.qp->state(), QpState::kError);
  EXPECT_EQ(end.count(ConnectionEvent::Kind::kEstablished), 0U);
}

// ---- Posted between accepting and the connection ----

class Accepted : public testing::Test {
 protected:
  Accepted() { EXPECT_TRUE(server.qp->responder()->begin_startup()); }
  void connect(const PairOptions& options = {}) {
    auto streams = network.net.make_stream_pair();
    server.enter(std::move(streams.acceptor), soft::Role::kResponder,
                 agreed_by(options, soft::Role::kResponder), mpa::Rtr::kNone);
    client.enter(std::move(streams.connector), soft::Role::kInitiator,
                 agreed_by(options, soft::Role::kInitiator), options.rtr);
  }
  bool run_until(const std::function<bool()>& condition) {
    return network.run_until([this] { client.turn(), server.turn(); }, condition, 10s);
  }

  TickingNetwork network{1, {}};
  SimEnd client{network.net, {}, 1};
  SimEnd server{network.net, without_rfc7306(), 2};

 private:
  static EndOptions without_rfc7306() {
    EndOptions options;
    options.rfc7306 = false;
    return options;
  }
};

TEST_F(Accepted, RequestsGoOutInOrderOnceTheConnectionIsThere) {
  Region& inbox = client.region(64, Access::kLocalWrite);
  const Sge to = inbox.sge();
  for (std::uint64_t i = 0; i < 3; ++i) post(client, RecvWr{i, {&to, 1}});
  post(server, send_of(1, {}));
  post(server, send_of(2, {}));
  connect();
  post(server, send_of(3, {}));
  ASSERT_TRUE(run_until([this] { return client.received.size() == 3; }));
  EXPECT_EQ(ids(server.sent), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(statuses(server.sent), Statuses(3, Status::kSuccess));
  EXPECT_EQ(ids(client.received), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(Accepted, ReadThatTheConnectionDoesNotAllowEndsIt) {
  Region& sink = server.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(server, send_of(1, {}));
  post(server, read_of(2, {&to, 1}, Stag{1}, 0));
  post(server, send_of(3, {}));
  post(client, RecvWr{1, {}});
  PairOptions options;
  options.server_depths.ord = 0;
  connect(options);
  ASSERT_TRUE(run_until([this] { return server.closed() && client.closed(); }));
  EXPECT_EQ(statuses(server.sent),
            (Statuses{Status::kSuccess, Status::kRemoteInvalidRequest, Status::kFlushed}));
  EXPECT_EQ(statuses(client.received), Statuses{Status::kSuccess});
  EXPECT_TRUE(server.qp->terminate_sent());
}

TEST_F(Accepted, AtomicThatWasNotAgreedOnEndsTheConnection) {
  Region& word = server.region(8, Access::kLocalWrite);
  const Sge to = word.sge();
  SendWr add{.wr_id = 1, .opcode = Opcode::kFetchAdd, .sges = {&to, 1}};
  EXPECT_EQ(try_post(server, add), std::errc{});
  connect();
  EXPECT_EQ(try_post(server, add), std::errc::not_supported);
  ASSERT_TRUE(run_until([this] { return !server.sent.empty(); }));
  EXPECT_EQ(statuses(server.sent), Statuses{Status::kRemoteInvalidRequest});
}

// ---- Limits of a post ----

TEST(Posting, ListIsPostedUpToItsFirstDefect) {
  SimPair pair;
  const std::vector<Sge> too_many(5);
  const SendWr list[] = {send_of(1, {}), send_of(2, too_many), send_of(3, {})};
  const auto posted = pair.client.qp->post_send(list);
  ASSERT_FALSE(posted);
  EXPECT_EQ(posted.error().code, std::errc::invalid_argument);
  EXPECT_EQ(posted.error().index, 1U);
  post(pair.server, RecvWr{1, {}});
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 1; }, 1s));
  pair.run_for(1s);
  EXPECT_EQ(ids(pair.client.sent), std::vector<std::uint64_t>{1});
}

TEST(Posting, ListIsPostedAsAWholeOrNotAtAllIfItIsToBe) {
  PairOptions options;
  options.client.capacity.max_send_wr = 3;
  SimPair pair(options);
  for (std::uint64_t i = 0; i < 4; ++i) post(pair.server, RecvWr{i, {}});
  const std::vector<Sge> too_many(5);
  const SendWr bad[] = {send_of(1, {}), send_of(2, too_many), send_of(3, {})};
  const auto refused = pair.client.qp->post_send(bad, verbs::Posting::kAllOrNone);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::invalid_argument);
  EXPECT_EQ(refused.error().index, 1U);
  const SendWr many[] = {send_of(4, {}), send_of(5, {}), send_of(6, {}), send_of(7, {})};
  const auto too_long = pair.client.qp->post_send(many, verbs::Posting::kAllOrNone);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, std::errc::not_enough_memory);
  EXPECT_EQ(too_long.error().index, 3U);
  pair.run_for(1s);
  EXPECT_TRUE(pair.client.sent.empty() && pair.server.received.empty());
  ASSERT_TRUE(pair.client.qp->post_send(std::span(many).first(3), verbs::Posting::kAllOrNone));
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 3; }, 1s));
  EXPECT_EQ(ids(pair.client.sent), (std::vector<std::uint64_t>{4, 5, 6}));
}

TEST(Posting, MalformedRequestsAreRefused) {
  SimPair pair;
  const std::vector<Sge> five(5);
  EXPECT_EQ(try_post(pair.client, RecvWr{1, five}), std::errc::invalid_argument);
  SendWr unknown = send_of(1, {});
  unknown.opcode = static_cast<Opcode>(99);
  EXPECT_EQ(try_post(pair.client, unknown), std::errc::invalid_argument);
  SendWr inline_read = read_of(1, {}, Stag{1}, 0);
  inline_read.flags = SendFlags::kInline;
  EXPECT_EQ(try_post(pair.client, inline_read), std::errc::invalid_argument);
  std::byte data[65];
  const Sge long_inline{data, sizeof data, Stag{0}};
  SendWr beyond = send_of(1, {&long_inline, 1});
  beyond.flags = SendFlags::kInline;
  EXPECT_EQ(try_post(pair.client, beyond), std::errc::invalid_argument);
  const Sge half{nullptr, 1U << 31U, Stag{0}};
  const Sge huge[] = {half, half};
  EXPECT_EQ(try_post(pair.client, send_of(1, huge)), std::errc::message_size);
  EXPECT_EQ(pair.client.qp->state(), QpState::kRts);
}

TEST(Posting, FullSendQueueRefusesUntilSomethingHasCompleted) {
  PairOptions options = RawPair::without_rtr();
  options.client.capacity.max_send_wr = 3;
  options.net.send_buffer = options.net.receive_buffer = 1000;
  RawPair pair(options);
  pair.peer.reads = false;
  Region& source = pair.end.region(3000, Access::kNone);
  const Sge from = source.sge();
  for (std::uint64_t i = 0; i < 3; ++i) post(pair.end, send_of(i, {&from, 1}));
  EXPECT_EQ(try_post(pair.end, send_of(3, {})), std::errc::not_enough_memory);
  pair.run_for(1s);
  EXPECT_EQ(try_post(pair.end, send_of(3, {})), std::errc::not_enough_memory);
  pair.peer.reads = true;
  ASSERT_TRUE(pair.run_until([&] { return !pair.end.sent.empty(); }, 1s));
  EXPECT_EQ(try_post(pair.end, send_of(3, {})), std::errc{});
}

TEST(Posting, FullReceiveQueueRefusesUntilAMessageTookOne) {
  PairOptions options;
  options.server.capacity.max_recv_wr = 2;
  SimPair pair(options);
  post(pair.server, RecvWr{1, {}});
  post(pair.server, RecvWr{2, {}});
  EXPECT_EQ(try_post(pair.server, RecvWr{3, {}}), std::errc::not_enough_memory);
  post(pair.client, send_of(1, {}));
  ASSERT_TRUE(pair.run_until([&] { return pair.server.received.size() == 1; }, 1s));
  EXPECT_EQ(try_post(pair.server, RecvWr{3, {}}), std::errc{});
  EXPECT_EQ(try_post(pair.server, RecvWr{4, {}}), std::errc::not_enough_memory);
}

TEST(Posting, QueuesOfNoDepthTakeNothing) {
  PairOptions options;
  options.client.capacity = {0, 0, 0, 0, 0};
  SimPair pair(options);
  EXPECT_EQ(try_post(pair.client, send_of(1, {})), std::errc::not_enough_memory);
  EXPECT_EQ(try_post(pair.client, RecvWr{1, {}}), std::errc::not_enough_memory);
}

TEST(Posting, WhatIsPostedAfterTheEndIsFlushed) {
  SimPair pair;
  pair.client.qp->abort();
  ASSERT_TRUE(pair.run_until_closed());
  post(pair.client, send_of(1, {}));
  SendWr unsignaled = send_of(2, {});
  unsignaled.flags = SendFlags::kNone;
  post(pair.client, unsignaled);
  post(pair.client, RecvWr{3, {}});
  pair.client.collect();
  EXPECT_EQ(statuses(pair.client.sent), Statuses(2, Status::kFlushed));
  EXPECT_EQ(statuses(pair.client.received), Statuses{Status::kFlushed});
}

TEST(Posting, SignalAllReportsEveryRequest) {
  PairOptions options;
  options.client.signaling = Signaling::kAll;
  SimPair pair(options);
  SendWr request = write_of(1, {}, Stag{0}, 0);
  request.flags = SendFlags::kNone;
  post(pair.client, request);
  ASSERT_TRUE(pair.run_until([&] { return pair.client.sent.size() == 1; }, 1s));
  EXPECT_EQ(pair.client.sent[0].opcode, CompletionOpcode::kWrite);
}

TEST(Posting, ReadWithoutAnyOrdIsRefused) {
  PairOptions options;
  options.client_depths.ord = 0;
  SimPair pair(options);
  EXPECT_EQ(try_post(pair.client, read_of(1, {}, Stag{0}, 0)), std::errc::invalid_argument);
}

// ---- Completion queues ----

TEST(Overrun, EndsTheQueuePairsOfThatQueueAndIsReported) {
  PairOptions options;
  options.server.cq_depth = 2;
  SimPair pair(options);
  pair.server.collects = false;
  for (std::uint64_t i = 0; i < 4; ++i) post(pair.server, RecvWr{i, {}});
  for (std::uint64_t i = 0; i < 4; ++i) post(pair.client, send_of(i, {}));
  ASSERT_TRUE(pair.run_until_closed());
  ASSERT_EQ(pair.server.host->reports.size(), 1U);
  EXPECT_EQ(pair.server.host->reports[0].kind, AsyncEvent::Kind::kCqOverrun);
  EXPECT_EQ(pair.server.host->reports[0].number, pair.server.recv_cq->number());
  pair.server.collect();
  EXPECT_EQ(ids(pair.server.received), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_NE(pair.server.end_reason().message.find("overran"), std::string::npos);
}

TEST(Overrun, OfTheSendQueueEndsTheQueuePairToo) {
  PairOptions options;
  options.client.cq_depth = 2;
  SimPair pair(options);
  pair.client.collects = false;
  for (std::uint64_t i = 0; i < 5; ++i) post(pair.client, write_of(i, {}, Stag{0}, 0));
  ASSERT_TRUE(pair.run_until_closed());
  ASSERT_EQ(pair.client.host->reports.size(), 1U);
  EXPECT_EQ(pair.client.host->reports[0].number, pair.client.send_cq->number());
}

TEST(Overrun, QueueThatIsJustFullDoesNotOverrun) {
  PairOptions options;
  options.server.cq_depth = 2;
  SimPair pair(options);
  pair.server.collects = false;
  for (std::uint64_t i = 0; i < 2; ++i) post(pair.server, RecvWr{i, {}});
  for (std::uint64_t i = 0; i < 2; ++i) post(pair.client, send_of(i, {}));
  pair.run_for(1s);
  EXPECT_EQ(pair.server.qp->state(), QpState::kRts);
  pair.server.collect();
  EXPECT_EQ(statuses(pair.server.received), Statuses(2, Status::kSuccess));
}

// ---- Destruction ----

TEST(DestructionInSim, WithRequestsOutstandingCompletesNothingMore) {
  SimPair pair;
  Region& sink = pair.client.region(64, Access::kLocalWrite);
  const Sge to = sink.sge();
  post(pair.client, RecvWr{1, {}});
  post(pair.client, read_of(2, {&to, 1}, Stag{1}, 0));
  pair.client.qp.reset();
  pair.client.collect();
  EXPECT_TRUE(pair.client.sent.empty() && pair.client.received.empty());
  EXPECT_EQ(pair.client.host->serving(), 0U);
  EXPECT_TRUE(pair.run_until([&] { return pair.server.closed(); }, 20s));
  sink.mr.reset();  // nothing holds it
}

// What a thread planned and could not send it holds no longer.
TEST(Deregistration, DoesNotWaitForAPeerThatStopsReading) {
  StuckPair pair;
  pair.run_for(1s);
  pair.source.mr.reset();
  pair.peer.reads = true;
  ASSERT_TRUE(pair.run_until_closed());
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), Statuses{Status::kLocalProtectionError});
  EXPECT_TRUE(pair.peer.terminate());
}

TEST(DestructionInSim, OfAStreamThatDoesNotCopyKeepsWhatItStillReads) {
  PairOptions options;
  options.net.memory = tcp_offload::SimMemory::kReferenced;
  options.net.release_lag = 1ms;
  options.net.receive_buffer = 1000;
  SimPair pair(options);
  Region& source = pair.client.region(20'000, Access::kNone);
  Region& inbox = pair.server.region(20'000, Access::kLocalWrite);
  source.memory.fill(std::byte{7});
  const Sge from = source.sge();
  const Sge to = inbox.sge();
  post(pair.server, RecvWr{1, {&to, 1}});
  post(pair.client, send_of(1, {&from, 1}));
  pair.client.qp.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.server.closed(); }, 20s));
  pair.turn();
  EXPECT_EQ(statuses(pair.server.received), Statuses{Status::kSuccess});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
