#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/adopt_support.hpp"

/// MPA on connections that were used in streaming mode before (RFC 5044 §7.1.3), in virtual time:
/// the initiator.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class AdoptInitiator : public testing::Test {
 protected:
  // Adopts with the first octets of `answer` already read; the peer sends the others when it has
  // the Request, and `then` is done.
  void start(
      const Bytes& answer, std::size_t already_read, const ConnectOptions& options = {},
      const std::function<void()>& then = [] {}) {
    peer_.on_octets = [this, rest = behind_of(answer, already_read), then] {
      if (peer_.received.size() < default_request().size()) return;
      if (!rest.empty()) peer_.write(rest);
      peer_.on_octets = nullptr;
      then();
    };
    StreamingConnection streaming{std::move(ends_.client), first_of(answer, already_read)};
    ASSERT_TRUE(initiating_.start(world_, streaming, options));
    EXPECT_EQ(streaming.connection, nullptr);
    ASSERT_TRUE(world_.run_until([&] { return initiating_.done(); }));
    EXPECT_EQ(peer_.received, default_request());
  }

  SimWorld world_;
  Ends ends_{world_};
  RawPeer peer_{std::move(ends_.server)};
  Initiating initiating_;
};

TEST(AdoptedInitiator, TakesAReplyAndWhatFollowsCutAtEveryOctet) {
  const Bytes reply = accepting_reply(10), behind = pattern(20, 8);
  const Bytes answer = joined(reply, behind);
  for (std::size_t cut = 0; cut <= answer.size(); ++cut) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.server));
    peer.on_octets = [&] {
      peer.on_octets = nullptr;
      if (cut < answer.size()) peer.write(behind_of(answer, cut));
    };
    StreamingConnection streaming{std::move(ends.client), first_of(answer, cut)};
    Initiating initiating;
    ASSERT_TRUE(initiating.start(world, streaming));
    ASSERT_TRUE(world.run_until([&] { return initiating.done(); }));
    ASSERT_NE(initiating.mode(), nullptr) << cut;
    EXPECT_EQ(initiating.mode()->info.private_data, pattern(10));
    EXPECT_EQ(initiating.mode()->already_read, cut > reply.size() ? cut - reply.size() : 0U);
    EXPECT_EQ(read_stream(world, *initiating.mode()->stream, behind.size()), behind) << cut;
    ASSERT_TRUE(world.run_until([&] { return peer.received.size() >= default_request().size(); }));
    EXPECT_EQ(peer.received, default_request()) << cut;
  }
}

TEST_F(AdoptInitiator, GetsTheConnectionBackWhenItIsRejected) {
  start(rejecting_reply(12), 0, giving_back());
  ASSERT_NE(initiating_.rejected(), nullptr);
  EXPECT_EQ(initiating_.rejected()->private_data, pattern(12));
  EXPECT_EQ(initiating_.rejected()->ird, 3);
  EXPECT_TRUE(initiating_.rejected()->kept.already_read.empty());
  expect_usable(world_, std::move(initiating_.rejected()->kept.connection), peer_);
}

TEST(AdoptedInitiator, LosesNoOctetBehindARejection) {
  const Bytes reply = rejecting_reply(5), behind = pattern(9, 6);
  const Bytes answer = joined(reply, behind);
  for (std::size_t cut = 0; cut <= answer.size(); ++cut) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.server));
    if (cut < answer.size()) peer.write(behind_of(answer, cut));
    StreamingConnection streaming{std::move(ends.client), first_of(answer, cut)};
    Initiating initiating;
    ASSERT_TRUE(initiating.start(world, streaming, giving_back()));
    ASSERT_TRUE(world.run_until([&] { return initiating.done(); }));
    ASSERT_NE(initiating.rejected(), nullptr) << cut;
    StreamingConnection& kept = initiating.rejected()->kept;
    ASSERT_NE(kept.connection, nullptr);
    RawPeer program(std::move(kept.connection));
    ASSERT_TRUE(world.run_until([&] {
      return kept.already_read.size() + program.received.size() == behind.size();
    })) << cut;
    EXPECT_EQ(joined(kept.already_read, program.received), behind) << cut;
  }
}

TEST_F(AdoptInitiator, ClosesARejectedConnectionThatNobodyWantsBack) {
  start(rejecting_reply(), 0);
  ASSERT_NE(initiating_.rejected(), nullptr);
  EXPECT_EQ(initiating_.rejected()->kept.connection, nullptr);
  EXPECT_TRUE(world_.run_until([&] { return peer_.ended(); }));
}

TEST_F(AdoptInitiator, NeverFallsBackToAnotherConnection) {
  start({}, 0, {}, [this] { peer_.connection->close(); });
  ASSERT_NE(initiating_.error(), nullptr);
  EXPECT_EQ(initiating_.error()->code, std::errc::connection_reset);
  EXPECT_THAT(initiating_.error()->message, HasSubstr("the MPA start-up with 10.0.0.2:"));
  world_.net.run_until_idle();
  EXPECT_EQ(world_.net.links(), 1U);
}

TEST_F(AdoptInitiator, ClosesAConnectionOnWhichNoReplyCame) {
  for (const bool read_before : {true, false}) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.server));
    if (!read_before) peer.write(pattern(30));
    StreamingConnection streaming{std::move(ends.client), read_before ? pattern(30) : Bytes{}};
    Initiating initiating;
    ASSERT_TRUE(initiating.start(world, streaming, giving_back()));
    ASSERT_TRUE(world.run_until([&] { return initiating.done() && peer.ended(); }));
    ASSERT_NE(initiating.error(), nullptr);
    EXPECT_EQ(initiating.error()->code, std::errc::protocol_error);
  }
}

TEST_F(AdoptInitiator, TimesOutWhateverHasBeenReadBefore) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{23}}) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.server));
    StreamingConnection streaming{std::move(ends.client), first_of(accepting_reply(), size)};
    ConnectOptions options;
    options.timeout = milliseconds(700);
    Initiating initiating;
    ASSERT_TRUE(initiating.start(world, streaming, options));
    world.net.advance(milliseconds(699));
    EXPECT_FALSE(initiating.done());
    world.net.advance(milliseconds(2));
    ASSERT_NE(initiating.error(), nullptr) << size;
    EXPECT_EQ(initiating.error()->code, std::errc::timed_out);
    EXPECT_TRUE(world.run_until([&] { return peer.ended(); }));
  }
}

TEST_F(AdoptInitiator, LeavesTheConnectionAloneWhenTheOptionsAreWrong) {
  StreamingConnection streaming{std::move(ends_.client), pattern(3)};
  ConnectOptions options;
  options.mpa_revision = 3;
  const auto started = initiating_.start(world_, streaming, options);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, std::errc::invalid_argument);
  EXPECT_EQ(streaming.already_read, pattern(3));
  expect_usable(world_, std::move(streaming.connection), peer_);
}

TEST_F(AdoptInitiator, ClosesTheConnectionWhenItIsGivenUp) {
  for (int steps = 0; steps < 12; ++steps) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.server));
    StreamingConnection streaming{std::move(ends.client), {}};
    Initiating initiating;
    ASSERT_TRUE(initiating.start(world, streaming, giving_back()));
    world.net.advance(std::chrono::microseconds(4 * steps));
    initiating.startup.reset();
    EXPECT_TRUE(world.run_until([&] { return peer.ended(); }));
    EXPECT_EQ(initiating.calls, 0);
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
