#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "verbs/startup_support.hpp"

/// Both roles of this implementation against each other.
namespace iwarp::verbs::soft::test {
namespace {

using tcp_offload::SimOptions;

constexpr std::size_t kMaxPrivate1 = 512;
constexpr std::size_t kMaxPrivate2 = 508;

struct Outcomes {
  Connecting connecting;
  std::shared_ptr<FakeQp> qp = std::make_shared<FakeQp>();
};

// Runs a start-up that is accepted, to its end on both sides.
void establish(World& world, const ConnectOptions& initiator, const ConnectOptions& responder,
               Outcomes& out, ConnectionInfo* request = nullptr) {
  Listening listening(world);
  listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
    if (request != nullptr) *request = incoming->info();
    ASSERT_TRUE(incoming->accept(out.qp, responder));
  };
  ASSERT_TRUE(out.connecting.start(world, listening.endpoint, initiator));
  ASSERT_TRUE(world.run_until([&] { return out.connecting.done() && out.qp->done(); }));
  ASSERT_NE(out.connecting.mode(), nullptr)
      << (out.connecting.error() != nullptr ? out.connecting.error()->message : "rejected");
  ASSERT_NE(out.qp->mode(), nullptr) << out.qp->error()->message;
}

ConnectOptions options_of(std::uint8_t revision, bool peer_to_peer, bool crc, bool markers,
                          std::size_t private_data) {
  ConnectOptions options;
  options.mpa_revision = revision;
  options.peer_to_peer = peer_to_peer;
  options.require_crc = crc;
  options.want_markers = markers;
  options.private_data = pattern(private_data, static_cast<unsigned>(private_data) + 1U);
  return options;
}

void expect_mirrored(const ConnectionInfo& a, const ConnectionInfo& b) {
  EXPECT_EQ(a.local, b.remote);
  EXPECT_EQ(a.remote, b.local);
  EXPECT_EQ(a.mpa_revision, b.mpa_revision);
  EXPECT_EQ(a.crc, b.crc);
  EXPECT_EQ(a.markers_sent, b.markers_received);
  EXPECT_EQ(a.markers_received, b.markers_sent);
}

void expect_streams_joined(World& world, RdmaMode& a, RdmaMode& b) {
  Bytes there = pattern(100, 3), back = pattern(60, 9);
  send_stream(*a.stream, there);
  EXPECT_EQ(read_stream(world, *b.stream, there.size()), there);
  send_stream(*b.stream, back);
  EXPECT_EQ(read_stream(world, *a.stream, back.size()), back);
}

using Combination = std::tuple<int, bool, bool, bool, bool, bool>;

class Combinations : public testing::TestWithParam<Combination> {};

void expect_agreed(Outcomes& out, const ConnectOptions& initiator,
                   const ConnectOptions& responder) {
  const RdmaMode& a = *out.connecting.mode();
  const RdmaMode& b = *out.qp->mode();
  expect_mirrored(a.info, b.info);
  EXPECT_EQ(a.role, Role::kInitiator);
  EXPECT_EQ(b.role, Role::kResponder);
  EXPECT_EQ(a.info.mpa_revision, initiator.mpa_revision);
  EXPECT_EQ(a.info.crc, initiator.require_crc || responder.require_crc);
  EXPECT_EQ(a.info.markers_received, initiator.want_markers);
  EXPECT_EQ(b.info.markers_received, responder.want_markers);
  EXPECT_EQ(a.info.private_data, responder.private_data);
  EXPECT_EQ(b.info.private_data, initiator.private_data);
  const bool peer_to_peer = initiator.mpa_revision == 2 && initiator.peer_to_peer;
  EXPECT_EQ(a.agreed.model == mpa::ConnectionModel::kPeerToPeer, peer_to_peer);
  EXPECT_EQ(b.agreed.model, a.agreed.model);
  EXPECT_EQ(a.rtr, peer_to_peer ? mpa::Rtr::kWrite : mpa::Rtr::kNone);
  EXPECT_EQ(b.rtr, mpa::Rtr::kNone);
}

TEST_P(Combinations, AgreeOnBothSides) {
  const auto [revision, peer_to_peer, crc1, crc2, markers1, markers2] = GetParam();
  const std::size_t limit = revision == 2 ? kMaxPrivate2 : kMaxPrivate1;
  for (const std::size_t size1 : {std::size_t{0}, std::size_t{1}, limit}) {
    for (const std::size_t size2 : {std::size_t{0}, std::size_t{37}, limit}) {
      SimOptions sim;
      sim.segment = {1, 40};
      SimWorld world(sim);
      const auto initiator =
          options_of(static_cast<std::uint8_t>(revision), peer_to_peer, crc1, markers1, size1);
      const auto responder = options_of(2, true, crc2, markers2, size2);
      Outcomes out;
      establish(world, initiator, responder, out);
      if (HasFatalFailure()) return;
      expect_agreed(out, initiator, responder);
      expect_streams_joined(world, *out.connecting.mode(), *out.qp->mode());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Combinations,
                         testing::Combine(testing::Values(1, 2), testing::Bool(), testing::Bool(),
                                          testing::Bool(), testing::Bool(), testing::Bool()));

TEST(Startup, CarriesPrivateDataOfEverySize) {
  SimWorld world;
  for (const int revision : {1, 2}) {
    const std::size_t limit = revision == 2 ? kMaxPrivate2 : kMaxPrivate1;
    for (std::size_t size = 0; size <= limit; ++size) {
      const auto rev = static_cast<std::uint8_t>(revision);
      const auto initiator = options_of(rev, true, true, false, size);
      const auto responder = options_of(rev, true, true, false, limit - size);
      Outcomes out;
      establish(world, initiator, responder, out);
      if (HasFatalFailure()) return;
      EXPECT_EQ(out.connecting.mode()->info.private_data, responder.private_data);
      EXPECT_EQ(out.qp->mode()->info.private_data, initiator.private_data);
    }
  }
}

TEST(Startup, WorksOverTheKernelsLoopback) {
  for (const int revision : {1, 2}) {
    KernelWorld world;
    Outcomes out;
    const auto initiator = options_of(static_cast<std::uint8_t>(revision), true, true, true, 500);
    const auto responder = options_of(2, true, false, false, 508);
    establish(world, initiator, responder, out);
    if (HasFatalFailure()) return;
    expect_agreed(out, initiator, responder);
    expect_streams_joined(world, *out.connecting.mode(), *out.qp->mode());
  }
}

TEST(Startup, TellsTheResponderWhatThePeerStated) {
  SimWorld world;
  ConnectOptions initiator = options_of(2, true, false, true, 20);
  initiator.ird = 5;
  initiator.ord = 9;
  Outcomes out;
  ConnectionInfo request;
  establish(world, initiator, {}, out, &request);
  EXPECT_EQ(request.private_data, initiator.private_data);
  EXPECT_EQ(request.ird, 5);
  EXPECT_EQ(request.ord, 9);
  EXPECT_EQ(request.mpa_revision, 2);
  EXPECT_FALSE(request.crc);
  EXPECT_TRUE(request.markers_sent);
  EXPECT_EQ(request.local, out.connecting.mode()->info.remote);
  EXPECT_EQ(request.remote, out.connecting.mode()->info.local);
}

TEST(Startup, LeavesDepthsUnstatedInRevision1) {
  SimWorld world;
  ConnectOptions initiator = options_of(1, false, true, false, 0);
  initiator.ird = 3;
  initiator.ord = 4;
  ConnectOptions responder;
  responder.ird = 6;
  responder.ord = 7;
  Outcomes out;
  ConnectionInfo request;
  establish(world, initiator, responder, out, &request);
  EXPECT_EQ(request.ird, 0);
  EXPECT_EQ(request.ord, 0);
  EXPECT_FALSE(request.peer_ird || request.peer_ord);
  EXPECT_FALSE(out.connecting.mode()->info.peer_ird || out.connecting.mode()->info.peer_ord);
  EXPECT_EQ(out.connecting.mode()->info.ird, 3);
  EXPECT_EQ(out.connecting.mode()->info.ord, 4);
  EXPECT_EQ(out.qp->mode()->info.ird, 6);
  EXPECT_EQ(out.qp->mode()->info.ord, 7);
}

TEST(Startup, NegotiatesDepths) {
  SimWorld world;
  ConnectOptions initiator, responder;
  initiator.ird = 4;
  initiator.ord = 40;
  responder.ird = 8;
  responder.ord = 30;
  Outcomes out;
  establish(world, initiator, responder, out);
  EXPECT_EQ(out.qp->mode()->info.ird, 40);  // raised to what the initiator wants
  EXPECT_EQ(out.qp->mode()->info.ord, 4);   // limited to what the initiator holds
  EXPECT_EQ(out.connecting.mode()->info.ird, 4);
  EXPECT_EQ(out.connecting.mode()->info.ord, 40);
}

TEST(Startup, TellsBothEndsWhatThePeerStatedBesideWhatIsInForce) {
  SimWorld world;
  ConnectOptions initiator, responder;
  initiator.ird = 4;
  initiator.ord = 9;
  responder.ird = 8;
  responder.ord = 30;
  Outcomes out;
  ConnectionInfo request;
  establish(world, initiator, responder, out, &request);
  EXPECT_EQ(request.peer_ird, 4);
  EXPECT_EQ(request.peer_ord, 9);
  EXPECT_EQ(out.qp->mode()->info.peer_ird, 4);
  EXPECT_EQ(out.qp->mode()->info.peer_ord, 9);
  EXPECT_EQ(out.connecting.mode()->info.peer_ird, 9);  // raised by the responder
  EXPECT_EQ(out.connecting.mode()->info.peer_ord, 4);  // lowered
}

TEST(Startup, UsesCrcUnlessBothEndsWereToldNotTo) {
  ConnectOptions without;
  without.require_crc = false;
  const std::pair<ConnectOptions, ConnectOptions> cases[] = {{{}, without}, {without, {}}};
  for (const auto& [initiator, responder] : cases) {
    SimWorld world;
    Outcomes out;
    establish(world, initiator, responder, out);
    EXPECT_TRUE(out.connecting.mode()->info.crc);
    EXPECT_TRUE(out.qp->mode()->info.crc);
  }
}

TEST(Startup, RefusesBadOptionsAtOnce) {
  SimWorld world;
  const auto refused = [&](const ConnectOptions& options) {
    Connecting connecting;
    const auto started = connecting.start(world, world.any_port(), options);
    return !started && started.error().code == std::errc::invalid_argument &&
           !started.error().message.empty();
  };
  EXPECT_TRUE(refused(options_of(2, true, true, false, kMaxPrivate2 + 1)));
  EXPECT_TRUE(refused(options_of(1, true, true, false, kMaxPrivate1 + 1)));
  EXPECT_TRUE(refused(options_of(0, true, true, false, 0)));
  EXPECT_TRUE(refused(options_of(3, true, true, false, 0)));
  ConnectOptions deep;
  deep.ird = kMaxReadRequests + 1;
  EXPECT_TRUE(refused(deep));
  deep.ird = 0;
  deep.ord = kMaxReadRequests + 1;
  EXPECT_TRUE(refused(deep));
}

TEST(Startup, DeliversARejectionWithPrivateData) {
  for (const int revision : {1, 2}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{19}, kMaxPrivate2}) {
      SimOptions sim;
      sim.segment = {1, 9};
      SimWorld world(sim);
      Listening listening(world);
      listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
        ASSERT_TRUE(incoming->reject(pattern(size)));
      };
      Connecting connecting;
      ASSERT_TRUE(
          connecting.start(world, listening.endpoint,
                           options_of(static_cast<std::uint8_t>(revision), true, true, false, 3)));
      ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
      ASSERT_NE(connecting.rejected(), nullptr);
      EXPECT_EQ(connecting.rejected()->private_data, pattern(size));
    }
  }
}

TEST(Startup, RejectsWhatIsDestroyedUnanswered) {
  SimWorld world;
  Listening listening(world);
  listening.on_incoming = [](const auto&) {};
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listening.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.rejected(), nullptr);
  EXPECT_TRUE(connecting.rejected()->private_data.empty());
}

TEST(Startup, TellsEachEndOnce) {
  SimWorld world;
  Outcomes out;
  establish(world, {}, {}, out);
  world.net.run_until_idle();
  EXPECT_EQ(out.connecting.calls, 1);
  EXPECT_EQ(out.qp->calls, 1);
}

TEST(Startup, LetsHandlersDestroyEverything) {
  SimWorld world;
  auto listening = std::make_unique<Listening>(world);
  auto connecting = std::make_unique<Connecting>();
  auto qp = std::make_shared<FakeQp>();
  bool connected = false, accepted = false;
  listening->on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
    ASSERT_TRUE(incoming->accept(qp, {}));
    incoming.reset();
    listening->listener.reset();
  };
  qp->then = [&] {
    accepted = qp->mode() != nullptr;
    qp.reset();
  };
  connecting->then = [&] {
    connected = connecting->mode() != nullptr;
    connecting->startup.reset();
    connecting->result.reset();
  };
  ASSERT_TRUE(connecting->start(world, listening->endpoint));
  ASSERT_TRUE(world.run_until([&] { return connected && accepted; }));
  connecting.reset();
  listening.reset();
  world.net.run_until_idle();
}

// Whatever is written first by either end of a connection arrives at the other's stream whole, even
// if it follows the Reply in the same segment.
TEST(Startup, LosesNoOctetBehindTheReply) {
  for (const std::size_t segment : {1U, 7U, 2000U}) {
    SimOptions sim;
    sim.segment = {segment, segment};
    SimWorld world(sim);
    Bytes first = pattern(300, 5);
    Listening listening(world);
    auto qp = std::make_shared<FakeQp>();
    qp->then = [&] { send_stream(*qp->mode()->stream, first); };
    listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
      ASSERT_TRUE(incoming->accept(qp, options_of(2, true, true, false, 200)));
    };
    Connecting connecting;
    ASSERT_TRUE(connecting.start(world, listening.endpoint));
    ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
    ASSERT_NE(connecting.mode(), nullptr);
    EXPECT_EQ(read_stream(world, *connecting.mode()->stream, first.size()), first);
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
