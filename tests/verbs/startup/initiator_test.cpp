#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "iwarp/ddp/header.hpp"
#include "iwarp/mpa/deframer.hpp"
#include "iwarp/rdmap/control.hpp"
#include "iwarp/rdmap/terminate.hpp"
#include "verbs/startup_support.hpp"

/// The initiator against peers that follow a script, in virtual time.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using tcp_offload::SimLink;
using tcp_offload::SimSide;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Initiator, NamesTheAddressThatRefuses) {
  SimWorld world;
  world.server();
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, {boost::asio::ip::make_address("10.0.0.2"), 7}));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.error(), nullptr);
  EXPECT_EQ(connecting.error()->code, std::errc::connection_refused);
  EXPECT_EQ(connecting.error()->message, "connecting to 10.0.0.2:7 failed: Connection refused");
}

TEST(Initiator, TellsAHostThatCannotBeReached) {
  SimWorld world;
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, {boost::asio::ip::make_address("10.0.0.99"), 7}));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.error(), nullptr);
  EXPECT_EQ(connecting.error()->code, std::errc::host_unreachable);
}

TEST(Initiator, GivesTcpAndMpaOneTimeOut) {
  SimWorld world;
  auto acceptor = std::move(world.server()->listen(world.any_port(), 1)).value();
  ConnectOptions options;
  options.timeout = milliseconds(1500);
  Connecting mute, waiting;  // the first one takes the only place in the backlog
  ASSERT_TRUE(mute.start(world, acceptor->local_endpoint(), options));
  world.net.advance(milliseconds(100));
  ASSERT_TRUE(waiting.start(world, acceptor->local_endpoint(), options));
  world.net.advance(milliseconds(1399));
  EXPECT_FALSE(mute.done());
  world.net.advance(milliseconds(2));
  ASSERT_TRUE(mute.done());
  EXPECT_FALSE(waiting.done());
  world.net.advance(milliseconds(100));
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(mute.error()->code, std::errc::timed_out);
  EXPECT_THAT(mute.error()->message,
              HasSubstr("no whole MPA reply within 1500 ms, and not an octet of one"));
  EXPECT_EQ(waiting.error()->code, std::errc::timed_out);
  EXPECT_THAT(waiting.error()->message, HasSubstr("no TCP connection within 1500 ms"));
}

TEST(Initiator, TimesOutOnHalfAReply) {
  ConnectOptions options;
  options.timeout = milliseconds(50);
  const std::pair<std::size_t, const char*> cases[] = {
      {1, "only 1 octet of one"}, {19, "only 19 octets of one"}, {25, "only 25 octets of one"}};
  for (const auto& [size, octets] : cases) {
    Bytes half = accepting_reply(30);
    half.resize(size);
    const auto error = outcome_of(answering(half), options);
    EXPECT_EQ(error.code, std::errc::timed_out) << size;
    EXPECT_THAT(error.message, HasSubstr("no whole MPA reply within 50 ms"));
    EXPECT_THAT(error.message, EndsWith(octets));
  }
}

TEST(Initiator, TakesAnyTimeOut) {
  for (const auto timeout : {milliseconds::max(), milliseconds::min(), milliseconds(0)}) {
    ConnectOptions options = without_fall_back();
    options.timeout = timeout;
    const auto error = outcome_of(closing_after({}), options);
    EXPECT_EQ(error.code,
              timeout > milliseconds(0) ? std::errc::connection_reset : std::errc::timed_out);
  }
}

TEST(Initiator, TellsAConnectionThatEndsAtAnyOctetOfTheReply) {
  const Bytes reply = accepting_reply(10);
  for (std::size_t size = 0; size < reply.size(); ++size) {
    const Bytes part(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(size));
    const auto error = outcome_of(closing_after(part), without_fall_back());
    EXPECT_EQ(error.code, std::errc::connection_reset) << size;
    EXPECT_THAT(error.message,
                HasSubstr("the peer closed the connection before there was a whole MPA reply"));
    if (size > 1) {
      EXPECT_THAT(error.message, EndsWith(std::to_string(size) + " octets of one"));
    }
  }
}

TEST(Initiator, RefusesWhatIsNoReply) {
  const Bytes good = accepting_reply();
  const struct {
    Bytes octets;
    const char* reason;
  } cases[] = {
      {pattern(400), "does not speak MPA"},
      {pattern(1), "does not speak MPA"},
      {with_octet(good, 15, 'X'), "does not speak MPA"},
      {encoded(enhanced_frame(mpa::FrameKind::kRequest)), "both ends started as MPA initiator"},
      {with_octet(good, 17, 3), "revision is neither 1 nor 2"},
      {with_octet(good, 17, 0), "revision is neither 1 nor 2"},
      {encoded(plain_reply(mpa::Revision::k1)), "another revision"},
      {encoded(plain_reply(mpa::Revision::k2)), "is not enhanced"},
      {with_octet(with_octet(good, 18, 2), 19, 1), "private data is too long"},
      {with_octet(good, 19, 3), "enhanced connection data"},
  };
  for (const auto& one : cases) {
    const auto error = outcome_of(answering(one.octets), {});
    EXPECT_EQ(error.code, std::errc::protocol_error);
    EXPECT_THAT(error.message, HasSubstr(one.reason));
  }
}

TEST(Initiator, SurvivesAResetAtEachOctetOfTheExchange) {
  const std::size_t request = 24 + 5, reply = 24 + 6;
  for (const SimSide sender : {SimSide::kConnector, SimSide::kAcceptor}) {
    for (std::size_t at = 0; at < (sender == SimSide::kConnector ? request : reply); ++at) {
      SimWorld world;
      world.net.on_link([&](SimLink link) { link.from(sender).reset_at(at); });
      Listening listening(world);
      auto qp = std::make_shared<FakeQp>();
      ConnectOptions initiator = without_fall_back(), responder;
      initiator.private_data = pattern(5);
      responder.private_data = pattern(6);
      listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
        ASSERT_TRUE(incoming->accept(qp, responder));
      };
      Connecting connecting;
      ASSERT_TRUE(connecting.start(world, listening.endpoint, initiator));
      ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
      ASSERT_NE(connecting.error(), nullptr) << at;
      EXPECT_EQ(connecting.error()->code, std::errc::connection_reset) << at;
      EXPECT_EQ(listening.calls, sender == SimSide::kConnector ? 0 : 1);
      world.net.run_until_idle();
      EXPECT_EQ(qp->done(), sender == SimSide::kAcceptor);
    }
  }
}

// What a peer has sent behind its accepting Reply is Full Operation's.
TEST(Initiator, HandsOverWhatFollowsTheReply) {
  for (const std::size_t private_data : {std::size_t{0}, std::size_t{100}, std::size_t{508}}) {
    SimWorld world;
    Bytes all = accepting_reply(private_data);
    const Bytes rest = pattern(77, 4);
    all.insert(all.end(), rest.begin(), rest.end());
    RawServer server(world, answering(all));
    Connecting connecting;
    ASSERT_TRUE(connecting.start(world, server.endpoint));
    ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
    ASSERT_NE(connecting.mode(), nullptr);
    EXPECT_EQ(connecting.mode()->info.private_data, pattern(private_data));
    EXPECT_EQ(read_stream(world, *connecting.mode()->stream, rest.size()), rest);
  }
}

TEST(Initiator, ReportsTheDepthsOfARejection) {
  SimWorld world;
  mpa::StartupFrame frame = enhanced_frame(mpa::FrameKind::kReply, data_of(7, 8));
  frame.verdict = mpa::Verdict::kRejected;
  RawServer server(world, answering(encoded(frame)));
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.rejected(), nullptr);
  EXPECT_EQ(connecting.rejected()->ird, 7);
  EXPECT_EQ(connecting.rejected()->ord, 8);
  EXPECT_TRUE(world.run_until([&] { return server.peers.front()->closed_properly(); }));
}

TEST(Initiator, TellsRejectedDepthsThatAreNotStatedFromZero) {
  SimWorld world;
  mpa::EnhancedData data = data_of(0, 0);
  data.ord = mpa::ReadDepth::not_stated();
  mpa::StartupFrame frame = enhanced_frame(mpa::FrameKind::kReply, data);
  frame.verdict = mpa::Verdict::kRejected;
  RawServer server(world, answering(encoded(frame)));
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.rejected(), nullptr);
  EXPECT_EQ(connecting.rejected()->ird, 0);
  EXPECT_FALSE(connecting.rejected()->ord);
}

// ---- The Terminate of RFC 6581 §9.

struct TerminateCase {
  mpa::EnhancedData reply;
  std::uint8_t code;
  std::errc errc;
};

void expect_terminate(Bytes fpdus, const mpa::StreamModes& modes, std::uint8_t code) {
  mpa::Deframer deframer(modes.crc, modes.markers_tx);
  const auto deframed = deframer.next(fpdus);
  const auto* fpdu = std::get_if<mpa::Fpdu>(&deframed);
  ASSERT_NE(fpdu, nullptr);
  EXPECT_EQ(fpdu->wire_size, fpdus.size());
  const auto segment = ddp::parse(fpdu->ulpdu).value();
  const auto& untagged = std::get<ddp::UntaggedSegment>(segment);
  EXPECT_EQ(untagged.header.qn, rdmap::kTerminateQueueNumber);
  EXPECT_EQ(untagged.header.msn, Msn{1});
  EXPECT_EQ(untagged.header.mo, MessageOffset{0});
  EXPECT_EQ(untagged.header.last, ddp::Last::kYes);
  EXPECT_EQ(untagged.header.rsvd_ulp, rdmap::encode_control(rdmap::Opcode::kTerminate));
  const auto terminate = rdmap::Terminate::parse(untagged.payload);
  ASSERT_TRUE(terminate);
  EXPECT_EQ(terminate->cause, rdmap::cause_of_llp(code));
}

void run_terminate_case(const TerminateCase& one, mpa::Crc crc, mpa::Markers markers) {
  SimWorld world;
  mpa::StartupFrame frame = enhanced_frame(mpa::FrameKind::kReply, one.reply);
  frame.crc = crc;
  frame.markers = markers;
  RawServer server(world, answering(encoded(frame)));
  ConnectOptions options;
  options.require_crc = false;
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint, options));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.error(), nullptr);
  EXPECT_EQ(connecting.error()->code, one.errc);
  RawPeer& peer = *server.peers.front();
  ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
  EXPECT_TRUE(peer.closed_properly());
  const std::size_t request = 24;
  ASSERT_GT(peer.received.size(), request);
  expect_terminate({peer.received.begin() + request, peer.received.end()},
                   {crc, markers, mpa::Markers::kOff}, one.code);
}

TEST(Initiator, TerminatesWhatItCannotLiveWith) {
  const mpa::ConnectionModel client_server = mpa::ConnectionModel::kClientServer;
  const TerminateCase cases[] = {
      {data_of(16, kMaxReadRequests + 1), 6, std::errc::no_buffer_space},
      {data_of(16, 16, {mpa::Rtr::kSend}), 7, std::errc::protocol_error},
      {data_of(16, 16, {}, client_server), 7, std::errc::protocol_error},
  };
  for (const auto& one : cases) {
    for (const mpa::Crc crc : {mpa::Crc::kOn, mpa::Crc::kOff}) {
      run_terminate_case(one, crc, mpa::Markers::kOn);
      run_terminate_case(one, crc, mpa::Markers::kOff);
    }
  }
}

/// A connection that never leaves streaming mode.
class StayingConnection final : public tcp_offload::Connection {
 public:
  explicit StayingConnection(std::unique_ptr<Connection> real) : real_(std::move(real)) {}

  void async_read_some(MutableBytes into, tcp_offload::TransferHandler handler) override {
    real_->async_read_some(into, std::move(handler));
  }
  void async_read(MutableBytes into, tcp_offload::TransferHandler handler) override {
    real_->async_read(into, std::move(handler));
  }
  void async_write(ConstBytes from, tcp_offload::TransferHandler handler) override {
    real_->async_write(from, std::move(handler));
  }
  void cancel() override { real_->cancel(); }
  void close() override { real_->close(); }
  std::unique_ptr<tcp_offload::Stream> hand_over(ConstBytes,
                                                 const tcp_offload::MpaTerms&) override {
    return nullptr;
  }
  int release_native() override { return -1; }
  [[nodiscard]] tcp_offload::Endpoint local() const override { return real_->local(); }
  [[nodiscard]] tcp_offload::Endpoint remote() const override { return real_->remote(); }

 private:
  std::unique_ptr<Connection> real_;
};

/// A device that connects, but whose connections never leave streaming mode.
class StayingDevice final : public tcp_offload::Device {
 public:
  explicit StayingDevice(std::shared_ptr<Device> real) : real_(std::move(real)) {}

  [[nodiscard]] std::string_view name() const override { return "staying"; }
  [[nodiscard]] tcp_offload::Offloads offloads() const override { return {}; }
  Result<std::unique_ptr<tcp_offload::Acceptor>, std::error_code> listen(
      const tcp_offload::Endpoint& at, const tcp_offload::ListenTerms& terms) override {
    return real_->listen(at, terms);
  }
  std::unique_ptr<tcp_offload::ConnectAttempt> async_connect_from(
      const tcp_offload::LocalEnd& from, const tcp_offload::Endpoint& to,
      tcp_offload::ConnectionHandler handler) override {
    auto wrap = [then = std::move(handler)](
                    std::error_code error,
                    std::unique_ptr<tcp_offload::Connection> connection) mutable {
      if (connection) connection = std::make_unique<StayingConnection>(std::move(connection));
      then(error, std::move(connection));
    };
    return real_->async_connect_from(from, to, std::move(wrap));
  }
  Result<std::unique_ptr<tcp_offload::Connection>, std::error_code> adopt(int socket) override {
    return real_->adopt(socket);
  }
  std::unique_ptr<tcp_offload::Timer> make_timer() override { return real_->make_timer(); }
  [[nodiscard]] Clock::time_point now() const override { return real_->now(); }
  void post(tcp_offload::Handler<> task) override { real_->post(std::move(task)); }

 private:
  std::shared_ptr<Device> real_;
};

// RFC 6581 §9.3.
TEST(Initiator, TerminatesWithCode5IfItCannotEnterRdmaMode) {
  SimWorld world;
  RawServer server(world, answering(accepting_reply()));
  StayingDevice device(world.client());
  std::optional<StartupResult> result;
  const auto startup =
      start_connect(device, server.endpoint, {}, [&](StartupResult r) { result = std::move(r); });
  ASSERT_TRUE(world.run_until([&] { return result.has_value(); }));
  ASSERT_TRUE(std::holds_alternative<Error>(*result));
  EXPECT_THAT(std::get<Error>(*result).message, HasSubstr("a local error"));
  RawPeer& peer = *server.peers.front();
  ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
  const std::size_t request = 24;
  expect_terminate({peer.received.begin() + request, peer.received.end()}, {}, 5);
}

TEST(Initiator, RaisesItsIrdToWhatThePeerWillIssue) {
  SimWorld world;
  const auto data = data_of(2, kMaxReadRequests, {mpa::Rtr::kRead});
  RawServer server(world, answering(encoded(enhanced_frame(mpa::FrameKind::kReply, data))));
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.mode(), nullptr);
  EXPECT_EQ(connecting.mode()->info.ird, kMaxReadRequests);
  EXPECT_EQ(connecting.mode()->info.ord, 2);
  EXPECT_EQ(connecting.mode()->rtr, mpa::Rtr::kRead);
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
