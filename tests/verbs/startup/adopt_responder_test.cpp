#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/adopt_support.hpp"

/// MPA on connections that were used in streaming mode before (RFC 5044 §7.1.3), in virtual time:
/// the responder, and both.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(AdoptedResponder, TakesARequestCutAtEveryOctet) {
  const Bytes request = request_of(5, 6, 11);
  for (std::size_t cut = 0; cut <= request.size(); ++cut) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.client));
    Responding responding(world, {std::move(ends.server), first_of(request, cut)});
    if (cut < request.size()) peer.write(behind_of(request, cut));
    ASSERT_TRUE(world.run_until([&] { return responding.done(); }));
    ASSERT_NE(responding.incoming(), nullptr) << cut;
    EXPECT_EQ(responding.incoming()->info().private_data, pattern(11));
    EXPECT_EQ(responding.incoming()->info().ird, 5);
    const auto qp = std::make_shared<FakeQp>();
    ASSERT_TRUE(responding.incoming()->accept(qp, {}));
    ASSERT_TRUE(world.run_until([&] { return qp->done(); }));
    ASSERT_NE(qp->mode(), nullptr) << cut;
    Bytes there = pattern(40, 2);
    send_stream(*qp->mode()->stream, there);
    ASSERT_TRUE(world.run_until([&] { return peer.received.size() >= 24 + there.size(); }));
    const auto reply = mpa::StartupFrameView::parse(peer.received, mpa::FrameKind::kReply);
    ASSERT_TRUE(reply);
    EXPECT_EQ(behind_of(peer.received, reply->size()), there) << cut;
  }
}

class AdoptResponder : public testing::Test {
 protected:
  // Adopts with a whole Request already read, or with what else there is.
  void start(const Bytes& already_read = request_of(), const provider::AwaitOptions& options = {}) {
    responding_.emplace(world_, StreamingConnection{std::move(ends_.server), already_read},
                        options);
    ASSERT_TRUE(world_.run_until([&] { return responding_->done(); }));
  }
  std::errc error_code() {
    const Error* error = responding_->error();
    if (error == nullptr) return {};
    EXPECT_THAT(error->message, HasSubstr("10.0.0.1:"));
    return static_cast<std::errc>(error->code.value());
  }
  // The Reply that has come, `skip` octets having come before.
  std::optional<mpa::StartupFrameView> reply(std::size_t skip = 0) {
    std::optional<mpa::StartupFrameView> view;
    world_.run_until([&] {
      if (peer_.received.size() < skip) return false;
      const auto parsed = mpa::StartupFrameView::parse(ConstBytes(peer_.received).subspan(skip),
                                                       mpa::FrameKind::kReply);
      if (parsed) view = *parsed;
      return view.has_value();
    });
    return view;
  }

  SimWorld world_;
  Ends ends_{world_};
  RawPeer peer_{std::move(ends_.client)};
  std::optional<Responding> responding_;
};

TEST_F(AdoptResponder, SendsTheLastStreamingMessageBeforeTheReply) {
  provider::AwaitOptions options;
  options.last_message = pattern(300, 7);
  start(request_of(), options);
  ASSERT_NE(responding_->incoming(), nullptr);
  EXPECT_TRUE(world_.run_until([&] { return peer_.received == pattern(300, 7); }));
  ASSERT_TRUE(responding_->incoming()->reject({}));
  ASSERT_TRUE(reply(300));
  EXPECT_EQ(first_of(peer_.received, 300), pattern(300, 7));
}

TEST_F(AdoptResponder, DoesNotTellOfARequestBeforeTheLastMessageIsOut) {
  tcp_offload::SimOptions narrow;
  narrow.send_buffer = narrow.receive_buffer = 64;
  SimWorld world(narrow);
  Ends ends(world);
  provider::AwaitOptions options;
  options.last_message = pattern(1000);
  options.timeout = milliseconds(300);
  Responding responding(world, {std::move(ends.server), request_of()}, options);
  world.net.advance(milliseconds(299));  // the peer reads nothing
  EXPECT_FALSE(responding.done());
  world.net.advance(milliseconds(2));
  ASSERT_NE(responding.error(), nullptr);
  EXPECT_EQ(responding.error()->code, std::errc::timed_out);
}

TEST_F(AdoptResponder, TimesOutOnHalfARequest) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{21}}) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.client));
    provider::AwaitOptions options;
    options.timeout = milliseconds(400);
    Responding responding(world, {std::move(ends.server), first_of(request_of(), size)}, options);
    world.net.advance(milliseconds(399));
    EXPECT_FALSE(responding.done());
    world.net.advance(milliseconds(2));
    ASSERT_NE(responding.error(), nullptr);
    EXPECT_EQ(responding.error()->code, std::errc::timed_out);
    EXPECT_TRUE(world.run_until([&] { return peer.ended(); }));
    EXPECT_TRUE(peer.received.empty());
  }
}

TEST_F(AdoptResponder, ClosesWhatBringsNoRequest) {
  const struct {
    Bytes octets;
    const char* reason;
  } cases[] = {
      {pattern(60), "does not speak MPA"},
      {accepting_reply(), "both ends started as MPA responder"},
      {joined(request_of(), pattern(1)), "more than its MPA request"},
      {with_octet(request_of(), 17, 9), "revision is neither 1 nor 2"},
  };
  for (const auto& one : cases) {
    for (const bool read_before : {true, false}) {
      SimWorld world;
      Ends ends(world);
      RawPeer peer(std::move(ends.client));
      if (!read_before) peer.write(one.octets);
      Responding responding(world, {std::move(ends.server), read_before ? one.octets : Bytes{}});
      ASSERT_TRUE(world.run_until([&] { return responding.done() && peer.ended(); }));
      ASSERT_NE(responding.error(), nullptr) << one.reason;
      EXPECT_EQ(responding.error()->code, std::errc::protocol_error);
      EXPECT_THAT(responding.error()->message, HasSubstr(one.reason));
      EXPECT_TRUE(peer.received.empty());
    }
  }
}

TEST_F(AdoptResponder, TellsAPeerThatVanishesAtAnyOctet) {
  const Bytes request = request_of();
  for (std::size_t size = 0; size < request.size(); ++size) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.client));
    Responding responding(world, {std::move(ends.server), first_of(request, size / 2)});
    if (size > size / 2) peer.write(behind_of(first_of(request, size), size / 2));
    world.net.advance(milliseconds(1));
    if (size % 2 == 0) {
      peer.connection->close();
    } else {
      world.net.link(0).reset();
    }
    ASSERT_TRUE(world.run_until([&] { return responding.done(); }));
    ASSERT_NE(responding.error(), nullptr) << size;
    EXPECT_EQ(responding.error()->code, std::errc::connection_reset) << size;
  }
}

TEST_F(AdoptResponder, GetsTheConnectionBackWhenItRejects) {
  start();
  Kept kept;
  ASSERT_TRUE(kept.reject(*responding_->incoming(), pattern(33)));
  ASSERT_TRUE(world_.run_until([&] { return kept.result.has_value(); }));
  ASSERT_TRUE(*kept.result) << kept.result->error().message;
  const auto answer = reply();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->verdict(), mpa::Verdict::kRejected);
  EXPECT_THAT(answer->private_data(), testing::ElementsAreArray(pattern(33)));
  EXPECT_TRUE(kept.result->value().already_read.empty());
  expect_usable(world_, std::move(kept.result->value().connection), peer_);
  EXPECT_EQ(kept.calls, 1);
}

TEST_F(AdoptResponder, ClosesWhatItRejectsWithoutKeeping) {
  start();
  ASSERT_TRUE(responding_->incoming()->reject({}));
  EXPECT_TRUE(world_.run_until([&] { return peer_.ended(); }));
  ASSERT_TRUE(reply());
  EXPECT_TRUE(peer_.closed_properly());
}

TEST_F(AdoptResponder, RejectsWhatIsDestroyedUnanswered) {
  start();
  responding_->result.reset();
  ASSERT_TRUE(reply());
  EXPECT_EQ(reply()->verdict(), mpa::Verdict::kRejected);
  EXPECT_TRUE(world_.run_until([&] { return peer_.ended(); }));
}

TEST_F(AdoptResponder, GetsTheConnectionBackWhenItsIrdIsTooSmall) {
  start(request_of(16, kMaxReadRequests + 1));
  const auto qp = std::make_shared<FakeQp>();
  ASSERT_TRUE(responding_->incoming()->accept(qp, giving_back()));
  ASSERT_TRUE(world_.run_until([&] { return qp->done(); }));
  auto* rejected = std::get_if<StartupRejected>(&*qp->result);
  ASSERT_NE(rejected, nullptr);
  ASSERT_TRUE(rejected->refused_here);
  EXPECT_EQ(rejected->refused_here->code, std::errc::no_buffer_space);
  ASSERT_TRUE(reply());
  expect_usable(world_, std::move(rejected->kept.connection), peer_);
}

TEST_F(AdoptResponder, HasNothingToGiveBackWhenThePeerHasGone) {
  start();
  peer_.connection->close();
  world_.net.run_until_idle();
  Kept kept;
  ASSERT_TRUE(kept.reject(*responding_->incoming()));
  ASSERT_TRUE(world_.run_until([&] { return kept.result.has_value(); }));
  ASSERT_FALSE(*kept.result);
  EXPECT_EQ(kept.result->error().code, std::errc::connection_reset);
}

TEST_F(AdoptResponder, HasNothingToGiveBackAfterTheTimeToDecide) {
  start();
  world_.net.advance(kDecisionTimeout + milliseconds(1));
  Kept kept;
  ASSERT_TRUE(kept.reject(*responding_->incoming()));
  ASSERT_TRUE(world_.run_until([&] { return kept.result.has_value(); }));
  ASSERT_FALSE(*kept.result);
  EXPECT_EQ(kept.result->error().code, std::errc::timed_out);
  ASSERT_TRUE(reply());
}

TEST_F(AdoptResponder, TakesOneAnswerOnly) {
  start();
  Kept kept, again;
  EXPECT_FALSE(again.reject(*responding_->incoming(), pattern(509)));
  ASSERT_TRUE(kept.reject(*responding_->incoming()));
  const auto second = again.reject(*responding_->incoming());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, std::errc::connection_already_in_progress);
  world_.net.run_until_idle();
  EXPECT_EQ(kept.calls, 1);
  EXPECT_EQ(again.calls, 0);
}

TEST_F(AdoptResponder, RefusesToGiveBackADescriptorThatThereIsNot) {
  start();
  std::optional<Outcome<StreamingSocket>> given;
  ASSERT_TRUE(responding_->incoming()->reject_and_keep(
      {}, [&](Outcome<StreamingSocket> outcome) { given.emplace(std::move(outcome)); }));
  ASSERT_TRUE(world_.run_until([&] { return given.has_value(); }));
  ASSERT_FALSE(*given);
  EXPECT_EQ(given->error().code, std::errc::not_supported);
  EXPECT_TRUE(world_.run_until([&] { return peer_.ended(); }));
}

TEST_F(AdoptResponder, ClosesTheConnectionWhenItIsGivenUp) {
  for (int steps = 0; steps < 12; ++steps) {
    SimWorld world;
    Ends ends(world);
    RawPeer peer(std::move(ends.client));
    provider::AwaitOptions options;
    options.last_message = pattern(10);
    Responding responding(world, {std::move(ends.server), {}}, options);
    world.net.advance(std::chrono::microseconds(4 * steps));
    responding.startup.reset();
    EXPECT_TRUE(world.run_until([&] { return peer.ended(); }));
    EXPECT_EQ(responding.calls, 0);
  }
}

// ---- Both.

// RFC 5044 Figure 9, with segments of any size: the initiator's program reads no further than the
// last streaming message.
TEST(AdoptedBoth, StartBehindTheLastStreamingMessage) {
  for (const std::size_t segment : {1U, 13U, 1460U}) {
    tcp_offload::SimOptions sim;
    sim.segment = {segment, segment};
    SimWorld world(sim);
    Ends ends(world);
    provider::AwaitOptions acknowledging;
    acknowledging.last_message = pattern(25, 9);
    Responding responding(world, {std::move(ends.server), {}}, acknowledging);
    Bytes acknowledgement(25);
    bool acknowledged = false;
    ends.client->async_read(acknowledgement,
                            [&](std::error_code error, std::size_t) { acknowledged = !error; });
    ASSERT_TRUE(world.run_until([&] { return acknowledged; }));
    EXPECT_EQ(acknowledgement, pattern(25, 9));

    Initiating initiating;
    StreamingConnection streaming{std::move(ends.client), {}};
    ASSERT_TRUE(initiating.start(world, streaming));
    ASSERT_TRUE(world.run_until([&] { return responding.done(); }));
    const auto qp = std::make_shared<FakeQp>();
    ASSERT_TRUE(responding.incoming()->accept(qp, {}));
    ASSERT_TRUE(world.run_until([&] { return initiating.done() && qp->done(); }));
    ASSERT_TRUE(initiating.mode() != nullptr && qp->mode() != nullptr);
    EXPECT_EQ(initiating.mode()->info.local, qp->mode()->info.remote);
    Bytes there = pattern(90, 1);
    send_stream(*initiating.mode()->stream, there);
    EXPECT_EQ(read_stream(world, *qp->mode()->stream, there.size()), there);
    EXPECT_EQ(initiating.calls + responding.calls + qp->calls, 3);
  }
}

TEST(AdoptedBoth, TalkOnAfterARejectionAndMayStartAgain) {
  SimWorld world;
  Ends ends(world);
  for (int attempt = 0; attempt < 3; ++attempt) {
    Responding responding(world, {std::move(ends.server), {}});
    Initiating initiating;
    StreamingConnection streaming{std::move(ends.client), {}};
    ASSERT_TRUE(initiating.start(world, streaming, giving_back()));
    ASSERT_TRUE(world.run_until([&] { return responding.done(); }));
    Kept kept;
    ASSERT_TRUE(kept.reject(*responding.incoming()));
    ASSERT_TRUE(world.run_until([&] { return kept.result && initiating.done(); }));
    ASSERT_TRUE(*kept.result);
    ASSERT_NE(initiating.rejected(), nullptr);
    ends.server = std::move(kept.result->value().connection);
    ends.client = std::move(initiating.rejected()->kept.connection);
  }
  RawPeer peer(std::move(ends.server));
  expect_usable(world, std::move(ends.client), peer);
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
