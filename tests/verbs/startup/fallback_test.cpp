#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/startup_support.hpp"

/// The initiator's second attempt, and giving a start-up up; in virtual time.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using tcp_offload::SimLink;
using tcp_offload::SimSide;
using testing::HasSubstr;

// ---- The second attempt of RFC 6581 §10.

// Knows revision 1 only: closes on anything else.
RawServer::Script old_peer() {
  return [](RawPeer& peer, std::size_t) {
    peer.on_octets = [&peer] {
      const auto asked = mpa::StartupFrameView::parse(peer.received, mpa::FrameKind::kRequest);
      if (!asked || asked.value().revision() != mpa::Revision::k1) {
        peer.connection->close();
        return;
      }
      peer.write(encoded(plain_reply(mpa::Revision::k1)));
    };
  };
}

TEST(FallBack, TriesRevision1OnANewConnection) {
  SimWorld world;
  RawServer server(world, old_peer());
  ConnectOptions options;
  options.private_data = pattern(508);
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint, options));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.mode(), nullptr);
  EXPECT_EQ(connecting.mode()->info.mpa_revision, 1);
  EXPECT_EQ(connecting.mode()->rtr, mpa::Rtr::kNone);
  EXPECT_EQ(connecting.mode()->agreed.model, mpa::ConnectionModel::kClientServer);
  ASSERT_EQ(server.peers.size(), 2U);
  const auto again =
      mpa::StartupFrameView::parse(server.peers[1]->received, mpa::FrameKind::kRequest).value();
  EXPECT_FALSE(again.enhanced());
  EXPECT_THAT(again.private_data(), testing::ElementsAreArray(options.private_data));
}

TEST(FallBack, AlsoFollowsAReset) {
  SimWorld world;
  RawServer server(world, old_peer());
  world.net.on_link([&](SimLink link) {
    if (world.net.links() == 1) link.from(SimSide::kConnector).reset_at(3);
  });
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.mode(), nullptr);
  EXPECT_EQ(connecting.mode()->info.mpa_revision, 1);
}

std::size_t connections_made(const RawServer::Script& script, const ConnectOptions& options,
                             std::errc expected) {
  SimWorld world;
  RawServer server(world, script);
  Connecting connecting;
  EXPECT_TRUE(connecting.start(world, server.endpoint, options));
  EXPECT_TRUE(world.run_until([&] { return connecting.done(); }));
  if (connecting.error() == nullptr) return 0;
  EXPECT_EQ(connecting.error()->code, expected);
  world.net.run_until_idle();
  return server.peers.size();
}

TEST(FallBack, IsTriedOnceOnly) {
  EXPECT_EQ(connections_made(closing_after({}), {}, std::errc::connection_reset), 2U);
  const auto error = outcome_of(closing_after({}), {});
  EXPECT_THAT(error.message, HasSubstr("with MPA revision 1, after revision 2, failed"));
}

TEST(FallBack, IsNotTakenWhereItIsNotPermitted) {
  const auto reset = std::errc::connection_reset;
  ConnectOptions revision1;
  revision1.mpa_revision = 1;
  EXPECT_EQ(connections_made(closing_after({}), without_fall_back(), reset), 1U);
  EXPECT_EQ(connections_made(closing_after({}), revision1, reset), 1U);
  EXPECT_EQ(connections_made(closing_after(pattern(0)), {}, reset), 2U);
  EXPECT_EQ(connections_made(closing_after({std::byte{'M'}}), {}, reset), 1U);
  EXPECT_EQ(connections_made(answering(pattern(30)), {}, std::errc::protocol_error), 1U);
  ConnectOptions hasty;
  hasty.timeout = milliseconds(20);
  EXPECT_EQ(connections_made([](RawPeer&, std::size_t) {}, hasty, std::errc::timed_out), 1U);
}

TEST(FallBack, SharesTheTimeOut) {
  SimWorld world;
  RawServer server(world, [&](RawPeer& peer, std::size_t number) {
    if (number == 1) {
      peer.on_octets = [&] {
        peer.on_octets = nullptr;
        world.net.link(0).from(SimSide::kAcceptor).stall_for(milliseconds(600));
        peer.connection->close();
      };
    }
  });
  ConnectOptions options;
  options.timeout = milliseconds(1000);
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint, options));
  world.net.advance(milliseconds(999));
  EXPECT_EQ(server.peers.size(), 2U);
  EXPECT_FALSE(connecting.done());
  world.net.advance(milliseconds(2));
  ASSERT_NE(connecting.error(), nullptr);
  EXPECT_EQ(connecting.error()->code, std::errc::timed_out);
}

// ---- Cancelling.

enum class GiveUp { kCancel, kDestroy };

// Gives a start-up up after `steps` steps; returns whether it was done before.
bool give_up_after(std::size_t steps, GiveUp how, const RawServer::Script& script) {
  SimWorld world;
  RawServer server(world, script);
  Connecting connecting;
  EXPECT_TRUE(connecting.start(world, server.endpoint));
  for (std::size_t i = 0; i < steps; ++i) world.net.step();
  const bool done = connecting.done();
  if (how == GiveUp::kCancel) {
    connecting.startup->cancel();
    connecting.startup->cancel();
  } else {
    connecting.startup.reset();
  }
  connecting.result.reset();
  world.net.run_until_idle();
  EXPECT_EQ(connecting.calls, done ? 1 : 0) << steps;
  for (const auto& peer : server.peers) EXPECT_TRUE(peer->ended()) << steps;
  return done;
}

TEST(Cancelling, WorksAtEveryStep) {
  const auto unsuitable =
      encoded(enhanced_frame(mpa::FrameKind::kReply, data_of(16, 16, {mpa::Rtr::kSend})));
  for (const auto& script : {answering(accepting_reply(200)), answering(unsuitable), old_peer(),
                             answering(pattern(40))}) {
    for (const GiveUp how : {GiveUp::kCancel, GiveUp::kDestroy}) {
      for (std::size_t steps = 0; !give_up_after(steps, how, script); ++steps) {
        ASSERT_LT(steps, 1000U);
      }
    }
  }
}

TEST(Cancelling, IsLeftToTheEndOfTheExecutorToo) {
  bool called = false;
  for (std::size_t steps = 0; !called; ++steps) {
    tcp_offload::SimNetwork net(1);
    const Endpoint at(boost::asio::ip::make_address("10.0.0.2"), 0);
    auto acceptor = std::move(net.device(2).listen(at, 4)).value();
    auto startup = start_connect(net.device(1), acceptor->local_endpoint(), {},
                                 [&](const StartupResult&) { called = true; });
    for (std::size_t i = 0; i < steps; ++i) net.step();
    startup.value().reset();  // the clean-up is never run
    acceptor.reset();
    ASSERT_LT(steps, 100U);
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
