#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "verbs/startup_support.hpp"

/// The listener against peers that follow a script, in virtual time.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tcp_offload::SimSide;
using testing::HasSubstr;

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A request of 513 octets of private data that comes whole.
Bytes too_long_request() {
  return with_octet(with_octet(request_of(), 18, 2), 19, 1) + pattern(509);
}

// ---- Peers that are no initiators.

TEST(Listening, ClosesWithoutAReplyOnWhatIsNoRequest) {
  const Bytes good = request_of();
  const Bytes cases[] = {
      pattern(600),
      pattern(1),
      too_long_request(),
      with_octet(good, 0, 'm'),
      with_octet(good, 15, 'X'),
      with_octet(good, 17, 0),
      with_octet(good, 17, 3),
      with_octet(good, 19, 3),
      encoded(enhanced_frame(mpa::FrameKind::kReply)),
      good + Bytes(1),
      good + pattern(700),
  };
  SimWorld world;
  Listening listening(world);
  for (const Bytes& octets : cases) {
    RawPeer peer(world, listening.endpoint);
    peer.write(octets);
    const auto begin = world.net.now();
    ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
    EXPECT_LT(world.net.now() - begin, seconds(1));
    EXPECT_TRUE(peer.received.empty());
    EXPECT_EQ(listening.calls, 0);
  }
  expect_service(world, listening);
}

TEST(Listening, TellsWhyAConnectionBroughtNoRequest) {
  const Bytes good = request_of();
  const struct {
    Bytes octets;
    std::errc code;
    const char* reason;
  } cases[] = {
      {pattern(30), std::errc::protocol_error, "does not speak MPA"},
      {encoded(enhanced_frame(mpa::FrameKind::kReply)), std::errc::protocol_error,
       "both ends started as MPA responder"},
      {with_octet(good, 17, 0), std::errc::protocol_error, "revision is neither 1 nor 2"},
      {too_long_request(), std::errc::protocol_error, "private data is too long"},
      {good + Bytes(1), std::errc::protocol_error, "more than its MPA request"},
      {{std::byte{'M'}}, std::errc::timed_out, "timed out"},
  };
  for (const auto& one : cases) {
    std::vector<Error> told;
    provider::ListenOptions options;
    options.on_no_request = [&](const Error& error) { told.push_back(error); };
    SimWorld world;
    Listening listening(world, options);
    RawPeer peer(world, listening.endpoint);
    peer.write(one.octets);
    ASSERT_TRUE(world.run_until([&] { return !told.empty(); })) << one.reason;
    EXPECT_EQ(told.front().code, one.code);
    EXPECT_THAT(told.front().message, HasSubstr(one.reason));
    EXPECT_THAT(told.front().message, HasSubstr(to_string_of(peer.connection->local())));
    expect_service(world, listening);
    EXPECT_EQ(told.size(), 1U);
  }
}

TEST(Listening, MayBeEndedByWhoIsToldThatThereIsNoRequest) {
  SimWorld world;
  std::unique_ptr<Listening> listening;
  provider::ListenOptions options;
  options.on_no_request = [&](const Error&) { listening.reset(); };
  listening = std::make_unique<Listening>(world, options);
  RawPeer peer(world, listening->endpoint);
  peer.write(pattern(30));
  ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
  EXPECT_EQ(listening, nullptr);
}

TEST(Listening, IsNotMovedByHalfARequest) {
  const Bytes request = request_of(1, 2, 4);
  SimWorld world;
  Listening listening(world);
  for (std::size_t size = 0; size < request.size(); ++size) {
    const Bytes part(request.begin(), request.begin() + static_cast<std::ptrdiff_t>(size));
    RawPeer peer(world, listening.endpoint);
    peer.write(part);
    world.net.advance(milliseconds(5));
    ASSERT_TRUE(peer.connected());
    EXPECT_FALSE(peer.ended());
    peer.connection->close();
    RawPeer mute(world, listening.endpoint);
    mute.write(part);
    world.net.advance(seconds(9));
    EXPECT_FALSE(mute.ended());
    world.net.advance(seconds(2));
    EXPECT_TRUE(mute.ended()) << size;
    EXPECT_TRUE(mute.received.empty());
  }
  EXPECT_EQ(listening.calls, 0);
  expect_service(world, listening);
}

TEST(Listening, TakesARequestOctetByOctet) {
  SimWorld world;
  Listening listening(world);
  RawPeer peer(world, listening.endpoint);
  for (const std::byte octet : request_of(3, 4, 100)) {
    peer.write({octet});
    world.net.advance(milliseconds(10));
  }
  ASSERT_EQ(listening.incoming.size(), 1U);
  EXPECT_EQ(listening.incoming.front()->info().private_data, pattern(100));
  EXPECT_EQ(listening.incoming.front()->info().ird, 3);
  EXPECT_EQ(listening.incoming.front()->info().ord, 4);
}

TEST(Listening, SurvivesAResetAtEachOctetOfTheRequest) {
  const Bytes request = request_of();
  for (std::size_t at = 0; at < request.size(); ++at) {
    SimWorld world;
    Listening listening(world);
    world.net.on_link([&](tcp_offload::SimLink link) {
      if (world.net.links() == 1) link.from(SimSide::kConnector).reset_at(at);
    });
    RawPeer peer(world, listening.endpoint);
    peer.write(request);
    ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
    EXPECT_EQ(listening.calls, 0);
    expect_service(world, listening);
  }
}

TEST(Listening, TellsAnAddressThatIsTaken) {
  SimWorld world;
  const Listening listening(world);
  const auto second = start_listen(
      world.server(), listening.endpoint, {}, [](const auto&) {}, fake_qps());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, std::errc::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr(to_string_of(listening.endpoint)));
}

// ---- The listener's end.

TEST(Listening, EndsWithItsHalfOpenConnectionsButNotWithItsRequests) {
  SimWorld world;
  Listening listening(world);
  RawPeer half(world, listening.endpoint);
  half.write({std::byte{'M'}});
  const auto qp = std::make_shared<FakeQp>();
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listening.endpoint));
  ASSERT_TRUE(world.run_until([&] { return listening.incoming.size() == 1; }));
  listening.listener.reset();
  ASSERT_TRUE(world.run_until([&] { return half.ended(); }));
  RawPeer late(world, listening.endpoint);
  ASSERT_TRUE(world.run_until([&] { return late.ended(); }));
  EXPECT_EQ(late.error, std::errc::connection_refused);
  EXPECT_FALSE(connecting.done());
  ASSERT_TRUE(listening.incoming.front()->accept(qp, {}));
  ASSERT_TRUE(world.run_until([&] { return connecting.done() && qp->done(); }));
  EXPECT_NE(connecting.mode(), nullptr);
  EXPECT_NE(qp->mode(), nullptr);
}

enum class Answering { kAtOnce, kNever };

// Destroys the listener, and the requests it has made, after some steps; returns whether the
// initiator had its result before.
bool end_listener_after(std::size_t steps, Answering answering) {
  SimWorld world;
  Listening listening(world);
  const auto qp = std::make_shared<FakeQp>();
  if (answering == Answering::kAtOnce) {
    listening.on_incoming = [&](const std::unique_ptr<provider::IncomingConnection>& incoming) {
      ASSERT_TRUE(incoming->accept(qp, {}));
    };
  }
  Connecting connecting;
  ConnectOptions options;
  options.fall_back = false;
  EXPECT_TRUE(connecting.start(world, listening.endpoint, options));
  for (std::size_t i = 0; i <= steps; ++i) world.net.step();
  const bool done = connecting.done();
  listening.listener.reset();
  listening.incoming.clear();
  EXPECT_TRUE(world.run_until([&] { return connecting.done(); }));
  world.net.run_until_idle();
  EXPECT_EQ(qp->begun, qp->done());
  EXPECT_EQ(connecting.mode() != nullptr, qp->begun);
  return done;
}

TEST(Listening, MayEndAtEveryStep) {
  for (const Answering answering : {Answering::kAtOnce, Answering::kNever}) {
    for (std::size_t steps = 0; !end_listener_after(steps, answering); ++steps) {
      ASSERT_LT(steps, 1000U);
    }
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
