#include <gtest/gtest.h>

#include <ostream>

#include "verbs/startup_time_support.hpp"

/// The deadlines of start-ups: what a program that is stopped does to them, and what a peer that is
/// silent.
namespace iwarp::verbs::soft::test::timing {
namespace {

// ---- Every deadline, with a peer that answers in time.

struct Lawful {
  const char* deadline;
  Make make;
  std::vector<unsigned> stopped;  ///< The hosts whose program is stopped.
  tcp_offload::SimOptions options{};
  milliseconds from{0};  ///< No stop comes before that: it costs a deadline a part of a second.
};
std::ostream& operator<<(std::ostream& out, const Lawful& one) { return out << one.deadline; }

std::vector<Lawful> lawful() {
  constexpr milliseconds kLate(9'990), kBehindTheRequest(1);  // the time is ten seconds
  return {
      {"connect: TCP and the Reply", connects_to(answering(accepting_reply())), {kClient}},
      {"connect: a Reply in two parts", takes_a_reply_in_two_parts(25, milliseconds(3)), {kClient}},
      {"connect: a Reply at the last moment",
       takes_a_reply_in_two_parts(0, kLate),
       {kClient},
       {},
       kBehindTheRequest},
      {"connect: the rest of one",
       takes_a_reply_in_two_parts(1, kLate),
       {kClient},
       {},
       kBehindTheRequest},
      {"connect: a small window", connects_to(answering(accepting_reply(50))), {kClient}, narrow()},
      {"connect: the second attempt, with revision 1", connects_to(closing_the_first()), {kClient}},
      {"connect: trying again where nobody listens yet", plain<Trying>(), {kClient}},
      {"adopt: the Reply", adopts(accepting_reply(100)), {kClient}},
      {"listen: the Request", responds(Answer::kAccept, milliseconds(1)), {kServer}},
      {"listen: the Request at the last moment",
       responds_to_a_late_request(kLate),
       {kServer},
       {},
       kBehindTheRequest},
      {"await: the last message and the Request", awaits(200, request_of()), {kServer}, narrow()},
      {"the decision", responds(Answer::kAccept, seconds(55)), {kServer}},
      {"the decision at the last moment",
       responds(Answer::kAccept, milliseconds(59'990)),
       {kServer},
       {},
       kBehindTheRequest},
      {"accept: the Reply", responds(Answer::kAccept, milliseconds(0)), {kServer}, narrow()},
      {"reject: the Reply", responds(Answer::kReject, milliseconds(0)), {kServer}, narrow()},
      {"both ends in one program", plain<Both>(), {kClient, kServer}},
  };
}

class StartupOfAStoppedProgram : public testing::TestWithParam<Lawful> {
 protected:
  // The whole start-up with one stop after `steps`; how many steps it took.
  static std::size_t run(std::size_t steps, nanoseconds stop) {
    SimWorld world(GetParam().options);
    const auto scenario = GetParam().make(world);
    world.net.advance(GetParam().from);
    std::size_t taken = 0;
    while (taken < steps && !scenario->done() && world.net.step()) ++taken;
    for (const unsigned host : GetParam().stopped) world.net.stop(host);
    world.net.advance(stop);
    for (const unsigned host : GetParam().stopped) world.net.go_on(host);
    while (!scenario->done() && world.net.step()) ++taken;
    const auto failure = scenario->done() ? scenario->failure() : std::errc::interrupted;
    EXPECT_EQ(failure, std::nullopt) << "stopped after step " << steps;
    return taken;
  }
};

TEST_P(StartupOfAStoppedProgram, ComesThroughWhereverTheClockJumps) {
  const std::size_t steps = run(0, nanoseconds(0));
  for (const nanoseconds stop : {nanoseconds(seconds(11)), nanoseconds(std::chrono::hours(1))}) {
    for (std::size_t at = 0; at < steps && !HasFailure(); ++at) run(at, stop);
  }
}

INSTANTIATE_TEST_SUITE_P(Deadlines, StartupOfAStoppedProgram, testing::ValuesIn(lawful()));

// ---- Every deadline, with a peer that is silent.

struct Silent {
  const char* deadline;
  Make make;
  milliseconds limit;
  unsigned host;  ///< Whose deadline it is.
  tcp_offload::SimOptions options{};
};
std::ostream& operator<<(std::ostream& out, const Silent& one) { return out << one.deadline; }

std::vector<Silent> silent() {
  const RawServer::Script mute = [](RawPeer&, std::size_t) {};
  constexpr milliseconds kUsual = seconds(10);
  const auto nothing = milliseconds(0);
  return {
      {"connect: TCP", plain<NotAccepted>(), kUsual, kClient},
      {"connect: the Reply", connects_to(mute), kUsual, kClient},
      {"connect: half a Reply", connects_to(answering(first_of(accepting_reply(), 19))), kUsual,
       kClient},
      {"adopt: the Reply", adopts({}), kUsual, kClient},
      {"listen: the Request", responds(Answer::kNone, nothing, 0), kUsual, kServer},
      {"listen: half a Request", responds(Answer::kNone, nothing, Responder::kHalf - 1), kUsual,
       kServer},
      {"await: the Request", awaits(0, {}), kUsual, kServer},
      {"await: the last message", awaits(900, {}, Peer::kDoesNotRead), kUsual, kServer, narrow()},
      {"the decision", responds(Answer::kNone, nothing), kDecisionTimeout, kServer},
      {"accept: the Reply", responds(Answer::kAccept, nothing, 0, Peer::kDoesNotRead), kUsual,
       kServer, narrow()},
      {"reject: the Reply", responds(Answer::kReject, nothing, 0, Peer::kDoesNotRead), kUsual,
       kServer, narrow()},
  };
}

class StartupWithASilentPeer : public testing::TestWithParam<Silent> {
 protected:
  SimWorld world_{GetParam().options};
  const std::unique_ptr<Scenario> scenario_ = GetParam().make(world_);
  const tcp_offload::Device::Clock::time_point begin_ = world_.net.now();
};

// A deadline begins when what comes before is done: some round trips later.
constexpr milliseconds kRoundTrips{3};

TEST_P(StartupWithASilentPeer, EndsInItsTime) {
  ASSERT_TRUE(world_.run_until([&] { return scenario_->done(); }));
  EXPECT_EQ(scenario_->failure(), std::errc::timed_out);
  EXPECT_GE(world_.net.now() - begin_, GetParam().limit);
  EXPECT_LE(world_.net.now() - begin_, GetParam().limit + kRoundTrips);
}

TEST_P(StartupWithASilentPeer, EndsAfterAStopToo) {
  world_.net.advance(GetParam().limit / 2);
  world_.net.stop(GetParam().host);
  world_.net.advance(std::chrono::hours(1));
  world_.net.go_on(GetParam().host);
  const auto rest = world_.net.now();
  ASSERT_TRUE(world_.run_until([&] { return scenario_->done(); }));
  EXPECT_EQ(scenario_->failure(), std::errc::timed_out);
  EXPECT_GE(world_.net.now() - rest, GetParam().limit / 4) << "the stop was taken for silence";
  EXPECT_LE(world_.net.now() - rest, GetParam().limit / 2 + kRoundTrips);
}

INSTANTIATE_TEST_SUITE_P(Deadlines, StartupWithASilentPeer, testing::ValuesIn(silent()));

}  // namespace
}  // namespace iwarp::verbs::soft::test::timing
