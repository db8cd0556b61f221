#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/startup_support.hpp"

/// The answers to incoming connections, and what the peer may do meanwhile; in virtual time.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using tcp_offload::SimSide;
using testing::HasSubstr;

class Deciding : public testing::Test {
 protected:
  void ask(const Bytes& request) {
    peer_ = std::make_unique<RawPeer>(world_, listening_.endpoint);
    peer_->write(request);
    ASSERT_TRUE(world_.run_until([&] { return !listening_.incoming.empty(); }));
  }
  provider::IncomingConnection& incoming() { return *listening_.incoming.front(); }
  std::errc accept_error(const std::shared_ptr<provider::Qp>& qp, const ConnectOptions& options) {
    const auto outcome = incoming().accept(qp, options);
    if (outcome) return {};
    EXPECT_FALSE(outcome.error().message.empty());
    return static_cast<std::errc>(outcome.error().code.value());
  }
  mpa::StartupFrameView reply() {
    EXPECT_TRUE(world_.run_until([&] {
      return mpa::StartupFrameView::parse(peer_->received, mpa::FrameKind::kReply).has_value();
    }));
    return mpa::StartupFrameView::parse(peer_->received, mpa::FrameKind::kReply).value();
  }

  SimWorld world_;
  Listening listening_{world_};
  std::shared_ptr<FakeQp> qp_ = std::make_shared<FakeQp>();
  std::unique_ptr<RawPeer> peer_;
};

TEST_F(Deciding, LeavesARequestUnansweredAfterAWrongAnswer) {
  ask(request_of());
  ConnectOptions long_data, deep;
  long_data.private_data = pattern(509);
  deep.ird = kMaxReadRequests + 1;
  const auto busy = std::make_shared<FakeQp>();
  busy->begun = true;
  EXPECT_EQ(accept_error(nullptr, {}), std::errc::invalid_argument);
  EXPECT_EQ(accept_error(qp_, long_data), std::errc::invalid_argument);
  EXPECT_EQ(accept_error(qp_, deep), std::errc::invalid_argument);
  EXPECT_EQ(accept_error(busy, {}), std::errc::already_connected);
  EXPECT_FALSE(incoming().reject(pattern(509)));
  EXPECT_FALSE(qp_->begun);
  ASSERT_TRUE(incoming().accept(qp_, {}));
  EXPECT_EQ(accept_error(std::make_shared<FakeQp>(), {}),
            std::errc::connection_already_in_progress);
  EXPECT_FALSE(incoming().reject({}));
  EXPECT_EQ(reply().verdict(), mpa::Verdict::kAccepted);
  ASSERT_TRUE(world_.run_until([&] { return qp_->done(); }));
  EXPECT_NE(qp_->mode(), nullptr);
}

TEST_F(Deciding, AllowsAnUnenhancedPeerTheWholePrivateData) {
  mpa::StartupFrame frame;
  frame.revision = mpa::Revision::k1;
  ask(encoded(frame));
  ConnectOptions options;
  options.private_data = pattern(512);
  ASSERT_TRUE(incoming().accept(qp_, options));
  EXPECT_THAT(reply().private_data(), testing::ElementsAreArray(options.private_data));
}

TEST_F(Deciding, AnswersRevision2WithoutEnhancementInKind) {
  mpa::StartupFrame frame;
  frame.revision = mpa::Revision::k2;
  ask(encoded(frame));
  ASSERT_TRUE(incoming().accept(qp_, {}));
  EXPECT_FALSE(reply().enhanced());
  EXPECT_EQ(reply().revision(), mpa::Revision::k2);
}

TEST_F(Deciding, ClosesARejectedConnectionGently) {
  ask(request_of());
  ASSERT_TRUE(incoming().reject(pattern(300)));
  ASSERT_TRUE(world_.run_until([&] { return peer_->ended(); }));
  EXPECT_TRUE(peer_->closed_properly());  // FIN comes though this peer has not closed
  EXPECT_EQ(reply().verdict(), mpa::Verdict::kRejected);
  EXPECT_THAT(reply().private_data(), testing::ElementsAreArray(pattern(300)));
}

TEST_F(Deciding, LetsARejectionArriveAtAPeerThatTalksOn) {
  ask(request_of());
  world_.net.link(0).from(SimSide::kAcceptor).stall_for(milliseconds(300));
  ASSERT_TRUE(incoming().reject(pattern(100)));
  for (int i = 0; i < 10; ++i) {
    world_.net.advance(milliseconds(20));
    if (i > 0) peer_->write(pattern(10'000));
  }
  ASSERT_TRUE(world_.run_until([&] { return peer_->ended(); }));
  EXPECT_TRUE(peer_->closed_properly());
  EXPECT_THAT(reply().private_data(), testing::ElementsAreArray(pattern(100)));
}

TEST_F(Deciding, DoesNotLingerForEver) {
  ask(request_of());
  ASSERT_TRUE(incoming().reject({}));
  world_.net.advance(seconds(1));
  EXPECT_TRUE(peer_->closed_properly());
  world_.net.advance(kDefaultLinger);
  EXPECT_FALSE(world_.net.pending());
}

TEST_F(Deciding, RejectsWhoWantsMoreReadsThanThereCanBe) {
  ask(request_of(16, kMaxReadRequests + 1));
  ASSERT_TRUE(incoming().accept(qp_, {}));
  ASSERT_TRUE(world_.run_until([&] { return qp_->done() && peer_->ended(); }));
  EXPECT_EQ(reply().verdict(), mpa::Verdict::kRejected);
  EXPECT_EQ(reply().enhanced()->ird.value(), kMaxReadRequests);
  ASSERT_NE(qp_->error(), nullptr);
  EXPECT_EQ(qp_->error()->code, std::errc::no_buffer_space);
  EXPECT_EQ(qp_->calls, 1);
}

TEST_F(Deciding, NoticesAPeerThatLeaves) {
  ask(request_of());
  peer_->connection->close();
  world_.net.run_until_idle();
  const auto accepted = incoming().accept(qp_, {});
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, std::errc::connection_reset);
  EXPECT_THAT(accepted.error().message, HasSubstr(to_string_of(incoming().info().remote)));
  EXPECT_FALSE(qp_->begun);
  const auto rejected = incoming().reject({});
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, std::errc::connection_reset);
}

// A second answer is one too many, whatever has become of the first.
TEST_F(Deciding, AnswersOnceThoughThePeerLeavesBehindTheAnswer) {
  ask(request_of());
  ASSERT_TRUE(incoming().accept(qp_, {}));
  world_.net.link(0).reset();
  ASSERT_TRUE(world_.run_until([&] { return qp_->done(); }));
  EXPECT_EQ(accept_error(std::make_shared<FakeQp>(), {}),
            std::errc::connection_already_in_progress);
}

TEST_F(Deciding, NoticesAResetWhileTheAnswerIsOnItsWay) {
  for (const bool before : {true, false}) {
    listening_.incoming.clear();
    ask(request_of());
    if (before) world_.net.link(world_.net.links() - 1).reset();
    const auto qp = std::make_shared<FakeQp>();
    ASSERT_TRUE(incoming().accept(qp, {}));
    if (!before) world_.net.link(world_.net.links() - 1).reset();
    ASSERT_TRUE(world_.run_until([&] { return qp->done(); }));
    ASSERT_NE(qp->error(), nullptr);
    EXPECT_EQ(qp->error()->code, std::errc::connection_reset);
  }
}

TEST_F(Deciding, FailsOnOctetsBeforeTheReply) {
  ask(request_of());
  peer_->write({std::byte{0}});
  world_.net.advance(milliseconds(10));
  EXPECT_EQ(accept_error(qp_, {}), std::errc::protocol_error);
  ASSERT_TRUE(world_.run_until([&] { return peer_->ended(); }));
  EXPECT_FALSE(qp_->begun);
  EXPECT_TRUE(peer_->received.empty());
}

TEST_F(Deciding, EndsAfterItsTimeWithARejection) {
  ask(request_of());
  world_.net.advance(kDecisionTimeout - seconds(1));
  EXPECT_TRUE(peer_->received.empty());
  world_.net.advance(seconds(2));
  EXPECT_EQ(reply().verdict(), mpa::Verdict::kRejected);
  EXPECT_TRUE(peer_->closed_properly());
  EXPECT_EQ(accept_error(qp_, {}), std::errc::timed_out);
  EXPECT_FALSE(qp_->begun);
}

TEST_F(Deciding, BoundsTheTimeOfTheReply) {
  tcp_offload::SimOptions narrow;
  narrow.send_buffer = 8;
  narrow.receive_buffer = 8;
  SimWorld world(narrow);
  Listening listening(world);
  auto attempt_peer = std::unique_ptr<tcp_offload::Connection>();
  const Bytes request = request_of();
  auto attempt = world.client()->async_connect(
      listening.endpoint, [&](std::error_code, std::unique_ptr<tcp_offload::Connection> c) {
        attempt_peer = std::move(c);
        attempt_peer->async_write(request, [](std::error_code, std::size_t) {});
      });
  ASSERT_TRUE(world.run_until([&] { return !listening.incoming.empty(); }));
  ConnectOptions options;
  options.timeout = seconds(3);
  ASSERT_TRUE(listening.incoming.front()->accept(qp_, options));
  world.net.advance(milliseconds(2900));
  EXPECT_FALSE(qp_->done());  // nobody reads what is sent
  world.net.advance(milliseconds(200));
  ASSERT_NE(qp_->error(), nullptr);
  EXPECT_EQ(qp_->error()->code, std::errc::timed_out);
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
