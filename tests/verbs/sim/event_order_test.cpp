#include "verbs/raw_peer.hpp"

// A program learns how the start-up of its connection ended before anything of it completes. What
// completes of a queue pair that the program believes to be connecting it takes for a fault.
namespace iwarp::verbs::simtest {
namespace {

using Kind = ConnectionEvent::Kind;
using Statuses = std::vector<Status>;

// Two ends that are not connected yet. What has completed when one is told is kept.
class EventOrder : public testing::Test {
 protected:
  EventOrder() {
    for (SimEnd* end : {&client, &server}) {
      end->collects = false;
      end->on_event = [this, end](const ConnectionEvent&) {
        end->collect();
        seen_at_events += end->sent.size() + end->received.size();
        if (in_handler) in_handler(*end);
      };
    }
  }

  void begin(SimEnd& end) { ASSERT_TRUE(end.qp->responder()->begin_startup()); }
  void enter(SimEnd& end, mpa::Rtr rtr) {
    const bool initiator = &end == &client;
    PairOptions options;
    options.rtr = rtr;
    const auto role = initiator ? soft::Role::kInitiator : soft::Role::kResponder;
    end.enter(std::move(initiator ? streams.connector : streams.acceptor), role,
              agreed_by(options, role), initiator ? rtr : mpa::Rtr::kNone);
  }
  void run_for(std::chrono::nanoseconds time) {
    network.run_until([this] { client.turn(), server.turn(); }, [] { return false; }, time);
    client.collect();
    server.collect();
  }
  // What lies in the stream before the server is told of the connection.
  void send_ahead(mpa::Rtr rtr) {
    enter(client, rtr);
    post(client, send_of(1, {}));
    run_for(10ms);
    seen_at_events = 0;
  }
  static soft::StartupResult failure_of(Kind kind) {
    if (kind == Kind::kRejected) return soft::StartupRejected{};
    return Error{std::make_error_code(std::errc::timed_out), "too late"};
  }
  static EndOptions connectionless() {
    EndOptions options;
    options.connectionless = true;
    return options;
  }

  TickingNetwork network{1, {}};
  SimEnd client{network.net, connectionless(), 1};
  SimEnd server{network.net, {}, 2};
  tcp_offload::SimStreamPair streams = network.net.make_stream_pair();
  std::size_t seen_at_events = 0;
  std::function<void(SimEnd&)> in_handler;
};

class EventOrderOfModels : public EventOrder, public testing::WithParamInterface<mpa::Rtr> {};
INSTANTIATE_TEST_SUITE_P(Rtr, EventOrderOfModels,
                         testing::Values(mpa::Rtr::kNone, mpa::Rtr::kSend, mpa::Rtr::kWrite,
                                         mpa::Rtr::kRead));

TEST_P(EventOrderOfModels, MessageThatIsThereAlreadyCompletesBehindTheConnection) {
  send_ahead(GetParam());
  post(server, RecvWr{2, {}});
  enter(server, GetParam());
  run_for(10ms);
  EXPECT_EQ(server.count(Kind::kEstablished), 1U);
  EXPECT_EQ(seen_at_events, 0U);
  EXPECT_EQ(statuses(server.received), Statuses{Status::kSuccess});
}

TEST_P(EventOrderOfModels, RequestsPostedBeforeCompleteBehindTheConnection) {
  post(client, send_of(1, {}));
  post(server, RecvWr{2, {}});
  begin(client);
  enter(client, GetParam());
  enter(server, GetParam());
  run_for(10ms);
  EXPECT_EQ(client.count(Kind::kEstablished), 1U);
  EXPECT_EQ(seen_at_events, 0U);
  EXPECT_EQ(statuses(client.sent), Statuses{Status::kSuccess});
}

// An engine that has the socket completes what comes, and the program may send as often as it
// receives: its Sends complete, too, however long the thread takes that told it of the connection.
TEST_F(EventOrder, RequestsCompleteAsSoonAsTheSocketIsServed) {
  Statuses meanwhile;
  client.host->inside_add = [&] {
    post(client, send_of(1, {}));
    client.collect();
    meanwhile = statuses(client.sent);
  };
  enter(client, mpa::Rtr::kWrite);
  EXPECT_EQ(meanwhile, Statuses{Status::kSuccess});
}

// The program may end the connection before its socket is served.
TEST_F(EventOrder, EndThatComesBeforeTheSocketIsServedIsToldOnce) {
  for (const bool gently : {true, false}) {
    SimEnd end{network.net, {}, 3};
    post(end, RecvWr{1, {}});
    end.host->inside_add = [&] { gently ? end.qp->disconnect() : end.qp->abort(); };
    auto pair = network.net.make_stream_pair();
    pair.acceptor.reset();
    end.enter(std::move(pair.connector), soft::Role::kInitiator,
              agreed_by({}, soft::Role::kInitiator), mpa::Rtr::kWrite);
    network.run_until([&] { end.turn(); }, [&] { return end.closed(); }, 1s);
    end.turn();
    EXPECT_EQ(end.count(Kind::kDisconnected), 1U);
    EXPECT_EQ(end.host->serving(), 0U);
    EXPECT_EQ(statuses(end.received), Statuses{Status::kFlushed});
  }
}

// The other end waits for it, and a handler may take its time.
TEST_P(EventOrderOfModels, RtrLeavesBeforeTheProgramIsTold) {
  std::uint64_t sent = 0;
  in_handler = [&](SimEnd& end) { sent = end.qp->counters().fpdus_sent; };
  enter(client, GetParam());
  EXPECT_EQ(sent, GetParam() == mpa::Rtr::kNone ? 0U : 1U);
}

TEST_P(EventOrderOfModels, HandlerMayPostAndDisconnect) {
  in_handler = [](SimEnd& end) {
    if (end.count(Kind::kDisconnected) != 0) return;
    post(end, send_of(1, {}));
    end.qp->disconnect();
  };
  post(server, RecvWr{2, {}});
  enter(client, GetParam());
  in_handler = nullptr;
  enter(server, GetParam());
  run_for(1s);
  EXPECT_EQ(statuses(client.sent), Statuses{Status::kSuccess});
  EXPECT_EQ(statuses(server.received), Statuses{Status::kSuccess});
  EXPECT_TRUE(client.closed() && server.closed());
}

TEST_P(EventOrderOfModels, HandlerMayAbort) {
  send_ahead(GetParam());
  post(server, RecvWr{2, {}});
  in_handler = [](SimEnd& end) { end.qp->abort(); };
  enter(server, GetParam());
  EXPECT_EQ(server.qp->state(), QpState::kError);
  run_for(10ms);
  ASSERT_EQ(server.events.size(), 2U);
  EXPECT_EQ(server.events[1].kind, Kind::kDisconnected);
  EXPECT_EQ(statuses(server.received), Statuses{Status::kFlushed});
  EXPECT_EQ(server.host->serving(), 0U);
}

TEST_P(EventOrderOfModels, QueuePairThatItsHandlerDestroysCompletesNothing) {
  send_ahead(GetParam());
  post(server, RecvWr{2, {}});
  in_handler = [](SimEnd& end) { end.qp.reset(); };
  enter(server, GetParam());
  run_for(10ms);
  EXPECT_EQ(server.events.size(), 1U);
  EXPECT_TRUE(server.received.empty());
  EXPECT_EQ(server.host->serving(), 0U);
}

// ---- Start-ups that fail ----

class EventOrderOfFailures : public EventOrder, public testing::WithParamInterface<Kind> {};
INSTANTIATE_TEST_SUITE_P(Events, EventOrderOfFailures,
                         testing::Values(Kind::kRejected, Kind::kFailed),
                         [](const testing::TestParamInfo<Kind>& of) {
                           return of.param == Kind::kRejected ? "Rejected" : "Failed";
                         });

TEST_P(EventOrderOfFailures, FlushFollowsTheEvent) {
  begin(server);
  post(server, RecvWr{1, {}});
  post(server, send_of(2, {}));
  QpState told = QpState::kIdle;
  in_handler = [&](SimEnd& end) { told = end.qp->state(); };
  server.finish_startup(failure_of(GetParam()));
  run_for(1ms);
  ASSERT_EQ(server.events.size(), 1U);
  EXPECT_EQ(server.events[0].kind, GetParam());
  EXPECT_EQ(seen_at_events, 0U);
  EXPECT_EQ(told, QpState::kError);
  EXPECT_EQ(statuses(server.received), Statuses{Status::kFlushed});
  EXPECT_EQ(statuses(server.sent), Statuses{Status::kFlushed});
  EXPECT_TRUE(server.qp->drained());
}

TEST_P(EventOrderOfFailures, WhatTheHandlerPostsIsFlushedToo) {
  begin(server);
  in_handler = [](SimEnd& end) {
    post(end, RecvWr{1, {}});
    post(end, send_of(2, {}));
    end.collect();
    EXPECT_TRUE(end.sent.empty() && end.received.empty());
  };
  server.finish_startup(failure_of(GetParam()));
  run_for(1ms);
  EXPECT_EQ(statuses(server.received), Statuses{Status::kFlushed});
  EXPECT_EQ(statuses(server.sent), Statuses{Status::kFlushed});
}

TEST_P(EventOrderOfFailures, QueuePairThatItsHandlerDestroysCompletesNothing) {
  begin(server);
  post(server, RecvWr{1, {}});
  post(server, send_of(2, {}));
  in_handler = [](SimEnd& end) { end.qp.reset(); };
  server.finish_startup(failure_of(GetParam()));
  run_for(1ms);
  EXPECT_EQ(server.events.size(), 1U);
  EXPECT_TRUE(server.received.empty() && server.sent.empty());
}

// Whichever thread gives it up: the program may hold its locks, so that it is told later.
TEST_F(EventOrder, FlushFollowsTheEventOfAnAbortedStartUp) {
  begin(server);
  post(server, RecvWr{1, {}});
  post(server, send_of(2, {}));
  server.qp->abort();
  EXPECT_EQ(server.qp->state(), QpState::kError);
  post(server, RecvWr{3, {}});
  post(server, send_of(4, {}));
  server.collect();
  EXPECT_TRUE(server.events.empty() && server.received.empty() && server.sent.empty());
  EXPECT_FALSE(server.qp->drained());
  run_for(1ms);
  ASSERT_EQ(server.events.size(), 1U);
  EXPECT_EQ(server.events[0].kind, Kind::kFailed);
  EXPECT_EQ(seen_at_events, 0U);
  EXPECT_EQ(ids(server.received), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(ids(server.sent), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_TRUE(server.qp->drained());
}

TEST_F(EventOrder, QueuePairThatWasNeverConnectedIsFlushedAtOnce) {
  post(server, RecvWr{1, {}});
  server.qp->abort();
  server.collect();
  EXPECT_EQ(statuses(server.received), Statuses{Status::kFlushed});
  EXPECT_TRUE(server.events.empty());
}

}  // namespace
}  // namespace iwarp::verbs::simtest
