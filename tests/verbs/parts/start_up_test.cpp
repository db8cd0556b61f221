#include "soft/qp/start_up.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "verbs/sim_harness.hpp"

namespace iwarp::verbs::simtest {
namespace {

using connection::LifeEvent;
using tcp_offload::IoStatus;
using namespace std::chrono_literals;

/// What a queue pair is made of up to its connection.
struct StartUpOfTest {
  explicit StartUpOfTest(soft::SoftQpInit init) : parts(std::move(init)) {}

  soft::QpParts parts;
  soft::QpHalves halves{parts};
  soft::QpStartUp start_up{parts, halves};
};

/// One end whose start-up the test plays.
class StartUpTest : public testing::Test {
 protected:
  StartUpTest() { owner->parts.self = owner; }
  ~StartUpTest() override { owner->parts.discard_completions(); }

  void finish(soft::StartupResult result) {
    const auto meanwhile = owner;
    meanwhile->start_up.finish_startup(std::move(result));
    end.turn();
  }
  soft::RdmaMode rdma_mode() {
    soft::RdmaMode mode;
    mode.stream = std::move(streams.connector);
    mode.agreed = agreed_by({}, soft::Role::kResponder);
    mode.role = soft::Role::kResponder;
    return mode;
  }

  int cancelled = 0;  // Of CountedStartup.
  TickingNetwork network{1, {}};
  SimEnd end{network.net, {}, 1};
  tcp_offload::SimStreamPair streams = network.net.make_stream_pair();
  std::shared_ptr<StartUpOfTest> owner = std::make_shared<StartUpOfTest>(end.init_of({}, 2));
};

// Another thread that disconnects has seen no start-up yet, and ends the life when it has begun.
TEST_F(StartUpTest, TellsItsEndIfTheLifeEndedJustWhenItBegan) {
  for (const LifeEvent ends : {LifeEvent::kDisconnect, LifeEvent::kClose, LifeEvent::kAbort}) {
    SCOPED_TRACE(to_string(ends));
    owner = std::make_shared<StartUpOfTest>(end.init_of({}, 2));
    owner->parts.self = owner;
    streams = network.net.make_stream_pair();
    end.events.clear();
    ASSERT_TRUE(owner->start_up.begin_startup());
    const RecvWr receive{1, {}};
    ASSERT_TRUE(owner->parts.receives.post({&receive, 1}));
    owner->parts.life.apply(ends);
    finish(rdma_mode());
    EXPECT_EQ(statuses(std::exchange(end.received, {})), std::vector{Status::kFlushed});
    ASSERT_EQ(end.events.size(), 1U);
    EXPECT_EQ(end.events[0].kind, ConnectionEvent::Kind::kFailed);
    EXPECT_EQ(end.events[0].error.code, std::errc::connection_aborted);
    EXPECT_FALSE(owner->parts.phase.silent());
    EXPECT_EQ(owner->parts.link.load(), nullptr);
  }
}

TEST_F(StartUpTest, TellsItOnceIfItIsGivenUpJustWhenItSucceeds) {
  ASSERT_TRUE(owner->start_up.begin_startup());
  end.host->inside_start = [&] { EXPECT_TRUE(owner->start_up.abort()); };
  finish(rdma_mode());
  ASSERT_EQ(end.events.size(), 1U);
  EXPECT_EQ(end.events[0].kind, ConnectionEvent::Kind::kFailed);
}

// The program's handler may wait for the peer to see the end.
TEST_F(StartUpTest, HasLeftTheStreamWhenItTellsItsEnd) {
  ASSERT_TRUE(owner->start_up.begin_startup());
  owner->parts.life.apply(LifeEvent::kDisconnect);
  tcp_offload::Stream& peers = *streams.acceptor;
  bool seen = false;
  end.on_event = [&](const ConnectionEvent&) {
    std::array<std::byte, 8> scratch{};
    seen = network.run_until(
        [] {}, [&] { return peers.receive(scratch).status != IoStatus::kWouldBlock; }, 1s);
  };
  finish(rdma_mode());
  EXPECT_TRUE(seen);
}

/// A start-up of an initiator that counts how often it is given up.
class CountedStartup final : public soft::Startup {
 public:
  explicit CountedStartup(int& cancelled) : cancelled_(cancelled) {}
  void cancel() override { ++cancelled_; }

 private:
  int& cancelled_;
};

TEST_F(StartUpTest, GivesUpWhatBeganWhenItHadBeenGivenUp) {
  const auto begun = owner->start_up.begin([&](const auto&) {
    EXPECT_TRUE(owner->start_up.abort());
    return Outcome<std::unique_ptr<soft::Startup>>(std::make_unique<CountedStartup>(cancelled));
  });
  EXPECT_TRUE(begun);
  EXPECT_EQ(cancelled, 1);
  end.turn();
  EXPECT_EQ(end.count(ConnectionEvent::Kind::kFailed), 1U);
}

TEST_F(StartUpTest, TellsByItsEventAloneThatItWasGivenUpWhenItFailedAtOnce) {
  const auto begun = owner->start_up.begin([&](const auto&) {
    EXPECT_TRUE(owner->start_up.abort());
    return Outcome<std::unique_ptr<soft::Startup>>(fail(std::errc::network_unreachable, "no way"));
  });
  EXPECT_TRUE(begun);
  end.turn();
  EXPECT_EQ(end.count(ConnectionEvent::Kind::kFailed), 1U);
}

// While it began nothing could be flushed.
TEST_F(StartUpTest, FlushesWhatWasToBeFlushedIfItFailsAtOnce) {
  const RecvWr receive{1, {}};
  ASSERT_TRUE(owner->parts.receives.post({&receive, 1}));
  const SendWr request = send_of(2, {});
  const auto early = soft::SendWork::Admission::kTaken;
  ASSERT_EQ(owner->parts.sends.post({&request, 1}, {}, early).count, 1U);
  const auto begun = owner->start_up.begin([&](const auto&) {
    owner->parts.life.apply(LifeEvent::kDisconnect);
    owner->halves.settle();
    return Outcome<std::unique_ptr<soft::Startup>>(fail(std::errc::network_unreachable, "no way"));
  });
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, std::errc::network_unreachable);
  end.turn();
  EXPECT_EQ(statuses(end.sent), std::vector{Status::kFlushed});
  EXPECT_EQ(statuses(end.received), std::vector{Status::kFlushed});
  EXPECT_TRUE(end.events.empty());
}

TEST_F(StartUpTest, TellsItOnceIfItIsGivenUp) {
  ASSERT_TRUE(owner->start_up.begin_startup());
  ASSERT_TRUE(owner->start_up.abort());
  finish(rdma_mode());
  ASSERT_EQ(end.events.size(), 1U);
  EXPECT_EQ(end.events[0].kind, ConnectionEvent::Kind::kFailed);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
