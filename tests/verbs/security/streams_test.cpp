#include <array>

#include "verbs/raw_peer.hpp"

// Two streams of one host whose peers do not trust each other: whatever one of them does, the
// stream and the memory of the other go on (RFC 5042 §6.1.1, §6.4).
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::pattern;
using rdmap::Cause;
using rdmap::Layer;

constexpr std::uint16_t kIrd = 2;
constexpr std::uint32_t kHostileCqDepth = 4;

PairOptions hostile_options() {
  PairOptions options = RawPair::without_rtr();
  options.client_depths = {kIrd, kIrd};
  options.client.cq_depth = kHostileCqDepth;
  options.net.send_buffer = options.net.receive_buffer = 4096;
  return options;
}

// `hostile` is the stream of the attacker. `qp`, with a domain and a queue of its own, is a stream
// of the same host to `friendly`.
class SecurityStreams : public testing::Test {
 protected:
  SecurityStreams() {
    soft::SoftQp::Init init;
    init.services = services_of(hostile.end.host);
    init.pd = pd;
    init.send_cq = init.recv_cq = cq;
    init.capacity = EndOptions{}.capacity;
    init.number = 9;
    qp = soft::SoftQp::make(std::move(init));
    soft::RdmaMode mode;
    mode.stream = std::move(streams.connector);
    mode.role = soft::Role::kInitiator;
    mode.agreed = agreed_by(hostile_options(), mode.role);
    EXPECT_TRUE(qp->responder()->begin_startup());
    qp->responder()->finish_startup(std::move(mode));
  }

  void turn() {
    hostile.turn();
    friendly.turn();
    std::array<Completion, 16> some;
    const std::size_t count = cq->poll(some);
    done.insert(done.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
  }
  bool run_until(const std::function<bool()>& condition) {
    return hostile.network.run_until([this] { turn(); }, condition, 100s);
  }
  void run_for(std::chrono::nanoseconds time) {
    hostile.network.run_until([this] { turn(); }, [] { return false; }, time);
  }
  void attack(const Ulpdu& ulpdu) { hostile.peer.send(ulpdu); }

  // The attacker is told why its stream ends; the other stream still carries a message.
  void expect_terminate(const Cause& cause) {
    ASSERT_TRUE(run_until_hostile_closed());
    ASSERT_TRUE(hostile.peer.terminate());
    EXPECT_EQ(hostile.peer.terminate()->cause, cause);
    expect_alive();
  }
  bool run_until_hostile_closed() {
    return run_until([this] {
      if (hostile.peer.ended) hostile.peer.finish();
      return hostile.end.closed() && hostile.peer.ended;
    });
  }
  void expect_alive() {
    const RecvWr receive{100 + sends, {}};
    ASSERT_TRUE(qp->post_receive({&receive, 1}));
    friendly.send(segment(untagged(WireOpcode::kSend, ++sends)));
    ASSERT_TRUE(run_until([&] { return !done.empty() && done.back().wr_id == receive.wr_id; }));
    EXPECT_EQ(done.back().status, Status::kSuccess);
    EXPECT_EQ(qp->state(), QpState::kRts);
  }
  // The friendly peer writes the first octets of `region`, as nobody else could before.
  void expect_writable(Region& region) {
    friendly.send(segment(tagged(WireOpcode::kWrite, region.key(), TaggedOffset{region.to(0)}),
                          pattern(region.memory.size())));
    expect_alive();
    EXPECT_TRUE(std::equal(region.memory.bytes().begin(), region.memory.bytes().end(),
                           pattern(region.memory.size()).begin()));
  }
  static bool untouched(const Region& region) {
    const ConstBytes bytes = region.memory.bytes();
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  static Ulpdu read_request(std::uint32_t msn, Region& source, std::uint32_t length) {
    const rdmap::ReadRequest request{Stag{1}, TaggedOffset{0}, length, source.key(),
                                     TaggedOffset{source.to(0)}};
    return segment(untagged(WireOpcode::kReadRequest, msn), encoded(request));
  }
  // The Read Request that the friendly peer has got.
  rdmap::ReadRequest asked() {
    return *rdmap::ReadRequest::parse(
        ConstBytes(friendly.came.at(0)).subspan(ddp::kUntaggedHeaderSize));
  }
  void post_read(soft::SoftQp& by, Region& sink) {
    const Sge to = sink.sge();
    const SendWr read = read_of(1, {&to, 1}, Stag{5}, 0);
    ASSERT_TRUE(by.post_send({&read, 1}));
  }

  RawPair hostile{hostile_options()};
  const std::shared_ptr<soft::SoftPd> pd =
      std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{77});
  const std::shared_ptr<soft::SoftCq> cq =
      std::make_shared<soft::SoftCq>(services_of(hostile.end.host), 64U, 99U);
  tcp_offload::SimStreamPair streams = hostile.network.net.make_stream_pair();
  RawPeer friendly{std::move(streams.acceptor),
                   agreed_by(hostile_options(), soft::Role::kResponder).modes};
  std::shared_ptr<soft::SoftQp> qp;
  std::vector<Completion> done;
  std::uint32_t sends = 0;
  Region& theirs = hostile.end.region(
      64,
      Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteInvalidate,
      pd);
};

// ---- STags of the other stream (§6.1.1) ----

TEST_F(SecurityStreams, StagOfAnotherDomainCannotBeWritten) {
  attack(segment(tagged(WireOpcode::kWrite, theirs.key(), TaggedOffset{theirs.to(0)}),
                 pattern(32, 1)));
  expect_terminate({Layer::kDdp, 1, 0x02});
  EXPECT_TRUE(untouched(theirs));
  expect_writable(theirs);
}

TEST_F(SecurityStreams, StagOfAnotherDomainCannotBeRead) {
  attack(read_request(1, theirs, 32));
  expect_terminate({Layer::kRdmap, 1, 0x03});
  EXPECT_EQ(hostile.peer.came.size(), 1U) << "something was read";
}

TEST_F(SecurityStreams, StagOfAnotherDomainCannotBeInvalidated) {
  post(hostile.end, RecvWr{1, {}});
  auto header = untagged(WireOpcode::kSendInvalidate, 1);
  header.rsvd_ulp_word = theirs.key().value();
  attack(segment(header));
  expect_terminate({Layer::kRdmap, 1, 0x09});
  expect_writable(theirs);
}

// ---- The sink of a Read is its stream's alone ----

TEST_F(SecurityStreams, SinkOfAReadTakesNoResponseOfAnotherStream) {
  Region& own_sink = hostile.end.region(16, Access::kLocalWrite);
  post_read(*qp, theirs);
  post_read(*hostile.end.qp, own_sink);
  ASSERT_TRUE(run_until([this] { return !friendly.came.empty() && !hostile.peer.came.empty(); }));
  attack(segment(tagged(WireOpcode::kReadResponse, asked().sink_stag, asked().sink_to),
                 pattern(64, 1)));
  expect_terminate({Layer::kDdp, 1, 0x00});
  EXPECT_TRUE(untouched(theirs) && untouched(own_sink));
  friendly.send(
      segment(tagged(WireOpcode::kReadResponse, asked().sink_stag, asked().sink_to), pattern(64)));
  ASSERT_TRUE(run_until([this] { return done.back().wr_id == 1; }));
  EXPECT_EQ(done.back().status, Status::kSuccess);
  EXPECT_TRUE(
      std::equal(theirs.memory.bytes().begin(), theirs.memory.bytes().end(), pattern(64).begin()));
}

TEST_F(SecurityStreams, SinkOfAReadTakesNoWrite) {
  post_read(*qp, theirs);
  ASSERT_TRUE(run_until([this] { return !friendly.came.empty(); }));
  attack(segment(tagged(WireOpcode::kWrite, asked().sink_stag, asked().sink_to), pattern(64, 1)));
  expect_terminate({Layer::kDdp, 1, 0x00});
  EXPECT_TRUE(untouched(theirs));
}

// ---- Resources (§6.4) ----

TEST_F(SecurityStreams, ReadRequestsBeyondIrdLeaveTheQueueOfAnotherStreamAlone) {
  Region& readable = hostile.end.region(16, Access::kRemoteRead);
  hostile.peer.reads = false;  // no response gets through behind what is stuck
  const Sge stuck = hostile.end.region(20'000, Access::kNone).sge();
  post(hostile.end, write_of(1, {&stuck, 1}, Stag{1}, 0));
  for (std::uint32_t msn = 1; msn <= 50; ++msn) attack(read_request(msn, readable, 16));
  for (std::uint32_t msn = 1; msn <= kIrd; ++msn) friendly.send(read_request(msn, theirs, 64));
  run_for(1s);
  EXPECT_EQ(friendly.came.size(), kIrd) << "a full IRD of its own is served meanwhile";
  hostile.peer.reads = true;
  expect_terminate({Layer::kDdp, 2, 0x02});
}

TEST_F(SecurityStreams, SendsWithoutEndConsumeNoReceiveOfAnotherStream) {
  const RecvWr receives[] = {{1, {}}, {2, {}}, {3, {}}};
  ASSERT_TRUE(qp->post_receive(receives));
  post(hostile.end, RecvWr{1, {}});
  for (std::uint32_t msn = 1; msn <= 100; ++msn) attack(segment(untagged(WireOpcode::kSend, msn)));
  ASSERT_TRUE(run_until_hostile_closed());
  EXPECT_EQ(hostile.peer.terminate()->cause, (Cause{Layer::kDdp, 2, 0x02}));
  EXPECT_TRUE(done.empty());
  for (std::uint32_t msn = 1; msn <= 3; ++msn) {
    friendly.send(segment(untagged(WireOpcode::kSend, msn)));
  }
  ASSERT_TRUE(run_until([this] { return done.size() == 3; }));
  EXPECT_EQ(statuses(done), std::vector<Status>(3, Status::kSuccess));
}

TEST_F(SecurityStreams, CompletionQueueThatOverrunsEndsNoStreamOfAnotherQueue) {
  hostile.end.collects = false;
  for (std::uint32_t i = 0; i < 2 * kHostileCqDepth; ++i) post(hostile.end, RecvWr{i, {}});
  for (std::uint32_t msn = 1; msn <= 2 * kHostileCqDepth; ++msn) {
    attack(segment(untagged(WireOpcode::kSend, msn)));
  }
  ASSERT_TRUE(run_until_hostile_closed());
  ASSERT_EQ(hostile.end.host->reports.size(), 1U);
  EXPECT_EQ(hostile.end.host->reports[0].kind, AsyncEvent::Kind::kCqOverrun);
  expect_alive();
}

TEST_F(SecurityStreams, HalfAnFpduOfOneStreamDoesNotHoldUpAnother) {
  const auto octets = hostile.peer.frame(segment(untagged(WireOpcode::kSend, 1), pattern(50)));
  hostile.peer.send_octets(ConstBytes(octets).first(30));
  run_for(1s);
  EXPECT_EQ(hostile.end.qp->state(), QpState::kRts);
  expect_alive();
}

}  // namespace
}  // namespace iwarp::verbs::simtest
