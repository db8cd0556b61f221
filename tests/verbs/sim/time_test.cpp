#include <array>
#include <ostream>
#include <span>

#include "verbs/raw_peer.hpp"

// The clock of one end jumps, as after a stop of the process or of the machine, between any two
// steps, with every deadline of a connection in RDMA mode running.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;

enum class Deadline { kFirstFpdu, kHalfFpdu, kClosing, kDraining, kTerminating, kReceiveWait };

struct JumpCase {
  Deadline deadline;
  std::chrono::seconds jump;
};

std::string to_string(const JumpCase& c) {
  constexpr const char* kNames[] = {"first_fpdu", "half_fpdu",   "closing",
                                    "draining",   "terminating", "receive_wait"};
  return std::string(kNames[static_cast<std::size_t>(c.deadline)]) + "_" +
         std::to_string(c.jump.count());
}

void PrintTo(const JumpCase& c, std::ostream* out) { *out << to_string(c); }

// The queue pair stands somewhere with a deadline, and what it waits for lies in its socket: that
// counts, whatever the clock says.
class ClockJumps : public testing::TestWithParam<JumpCase> {
 protected:
  static PairOptions options() {
    PairOptions options = RawPair::without_rtr();
    if (GetParam().deadline == Deadline::kFirstFpdu) options.rtr = mpa::Rtr::kSend;
    options.client.timeouts.linger = 10s;
    if (GetParam().deadline == Deadline::kReceiveWait) options.client.receive_wait = 1000ms;
    options.net.send_buffer = options.net.receive_buffer = 4096;
    return options;
  }
  [[nodiscard]] static soft::Role role() {
    return GetParam().deadline == Deadline::kFirstFpdu ? soft::Role::kResponder
                                                       : soft::Role::kInitiator;
  }

  // Brings the queue pair to where the deadline runs.
  void begin();
  // What it waits for arrives, and is not looked at yet.
  void arrive();
  void jump() { pair_.end.host->jumped += GetParam().jump; }

  RawPair pair_{options(), role()};
  Region& inbox_ = pair_.end.region(4000, Access::kLocalWrite);
  Region& source_ = pair_.end.region(50'000, Access::kNone);
  std::vector<std::byte> rest_;
};

void ClockJumps::begin() {
  const Sge from = source_.sge();
  const Sge to = inbox_.sge();
  switch (GetParam().deadline) {
    case Deadline::kFirstFpdu: return;
    case Deadline::kHalfFpdu: {
      post(pair_.end, RecvWr{1, {&to, 1}});
      pair_.end.host->enough_tails = 20;  // otherwise there is no deadline
      rest_ = pair_.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1), pattern(100)));
      pair_.peer.send_octets(ConstBytes(rest_).first(30));
      rest_.erase(rest_.begin(), rest_.begin() + 30);
      break;
    }
    case Deadline::kClosing:
      pair_.peer.reads = false;
      post(pair_.end, send_of(1, {&from, 1}));
      pair_.end.qp->disconnect();
      break;
    case Deadline::kDraining: pair_.end.qp->disconnect(); break;
    case Deadline::kTerminating:
      pair_.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));  // no receive is posted
      break;
    case Deadline::kReceiveWait:
      pair_.peer.send(segment(untagged(rdmap::Opcode::kSend, 1), pattern(100)));
      break;
  }
  pair_.run_for(20ms);
}

void ClockJumps::arrive() {
  pair_.end.host->deaf = true;
  const Sge to = inbox_.sge();
  switch (GetParam().deadline) {
    case Deadline::kFirstFpdu:
      post(pair_.end, RecvWr{1, {&to, 1}});
      pair_.peer.send(segment(untagged(rdmap::Opcode::kSend, 1)));
      break;
    case Deadline::kHalfFpdu: pair_.peer.send_octets(rest_); break;
    case Deadline::kClosing: pair_.peer.reads = true; break;
    case Deadline::kDraining:
    case Deadline::kTerminating: pair_.peer.finish(); break;
    case Deadline::kReceiveWait: break;  // posted behind the jump
  }
  for (int i = 0; i < 20; ++i) {
    pair_.peer.turn();
    pair_.network.net.step();
  }
  pair_.end.host->deaf = false;
}

TEST_P(ClockJumps, WhatHasArrivedCounts) {
  begin();
  arrive();
  jump();
  // The look at the time-outs comes before any at the socket, as after a stop.
  pair_.end.qp->halves().check_deadlines();
  pair_.end.host->look_at_tails();
  if (GetParam().deadline == Deadline::kReceiveWait) {
    const Sge to = inbox_.sge();
    post(pair_.end, RecvWr{1, {&to, 1}});
  }
  switch (GetParam().deadline) {
    case Deadline::kFirstFpdu:
    case Deadline::kHalfFpdu:
    case Deadline::kReceiveWait:
      pair_.run_for(2s);
      EXPECT_EQ(pair_.end.qp->state(), QpState::kRts) << pair_.end.qp->diagnosis().to_string();
      EXPECT_EQ(pair_.end.events.size(), 1U) << "established, and nothing else";
      break;
    case Deadline::kClosing:
    case Deadline::kDraining:
    case Deadline::kTerminating:
      ASSERT_TRUE(pair_.run_until_closed(100s));
      pair_.turn();
      EXPECT_FALSE(pair_.peer.lost) << "no reset: " << pair_.end.qp->diagnosis().to_string();
      EXPECT_EQ(static_cast<bool>(pair_.end.end_reason().code),
                GetParam().deadline == Deadline::kTerminating);
  }
}

// Where really nothing comes each wait ends in its time, in running time.
class JumpsInSilence : public ClockJumps {};
TEST_P(JumpsInSilence, EndAllTheSame) {
  begin();
  jump();
  pair_.run_for(5s);
  if (GetParam().deadline != Deadline::kHalfFpdu) {
    EXPECT_FALSE(pair_.end.closed()) << "half a second of the jump counts, and no more";
  }
  EXPECT_TRUE(pair_.run_until([this] { return pair_.end.closed(); }, 100s));
}

constexpr std::array kEndedBySilence{Deadline::kFirstFpdu, Deadline::kHalfFpdu, Deadline::kClosing,
                                     Deadline::kDraining, Deadline::kTerminating};
constexpr std::array kEndedByAFault{Deadline::kReceiveWait};

std::vector<JumpCase> jumps_of(std::span<const Deadline> deadlines) {
  std::vector<JumpCase> all;
  for (const Deadline deadline : deadlines) {
    all.push_back({deadline, 11s});
    all.push_back({deadline, 3600s});
  }
  return all;
}

constexpr auto kNameOfJump = [](const auto& of) { return to_string(of.param); };
INSTANTIATE_TEST_SUITE_P(Silence, ClockJumps, testing::ValuesIn(jumps_of(kEndedBySilence)),
                         kNameOfJump);
INSTANTIATE_TEST_SUITE_P(Fault, ClockJumps, testing::ValuesIn(jumps_of(kEndedByAFault)),
                         kNameOfJump);
INSTANTIATE_TEST_SUITE_P(Silence, JumpsInSilence, testing::ValuesIn(jumps_of(kEndedBySilence)),
                         kNameOfJump);

// Any number of jumps, between any two steps of a whole exchange with both ends leaving.
TEST(ClockJumpsAnywhere, EndNoConnection) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    iwarp::test::Random random(seed);
    PairOptions options;
    options.seed = seed;
    options.net.send_buffer = options.net.receive_buffer = 2000;
    SimPair pair(options);
    Region& source = pair.client.region(20'000, Access::kNone);
    Region& sink = pair.server.region(20'000, Access::kLocalWrite);
    source.memory.fill(std::byte{0x77});
    const Sge from = source.sge();
    const Sge to = sink.sge();
    post(pair.server, RecvWr{1, {&to, 1}});
    post(pair.client, send_of(1, {&from, 1}));
    const auto step = [&] {
      for (SimEnd* end : {&pair.client, &pair.server}) {
        if (random.one_in(4)) end->host->jumped += random.one_in(2) ? 11s : 3600s;
      }
      return pair.client.closed() && pair.server.closed();
    };
    pair.run_until([&] { return step() || pair.server.received.size() == 1; }, 100s);
    pair.client.qp->disconnect();
    ASSERT_TRUE(pair.run_until(step, 100s));
    pair.turn();
    EXPECT_EQ(statuses(pair.server.received), std::vector{Status::kSuccess});
    EXPECT_EQ(sink.memory.bytes().back(), std::byte{0x77});
    EXPECT_FALSE(pair.client.end_reason().code) << pair.client.end_reason().message;
    EXPECT_FALSE(pair.server.end_reason().code) << pair.server.end_reason().message;
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
