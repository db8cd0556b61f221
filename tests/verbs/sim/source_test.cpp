#include <algorithm>

#include "verbs/sim_harness.hpp"
#include "verbs/watched_stream.hpp"

// What is sent from where, and what becomes of it when a program changes it meanwhile.
namespace iwarp::verbs::simtest {
namespace {

constexpr std::size_t kSize = 40000;
constexpr std::size_t kLargeEmss = 9000;
constexpr std::byte kBefore{0x55}, kAfter{0xAA};

PairOptions with_large_segments() {
  PairOptions options;
  options.net.emss = kLargeEmss;
  return options;
}

// A client whose every system call is seen. The server is the Data Source of Reads, the client of
// everything else.
class Watched {
  bool started_ = false;  // the connection is there, and what follows with it

 public:
  explicit Watched(const PairOptions& options, std::size_t most = SIZE_MAX)
      : pair_(options,
              [this, most](std::unique_ptr<tcp_offload::Stream> inner) {
                return std::make_unique<WatchedStream>(
                    std::move(inner), [this](std::span<const iovec> pieces) { look_at(pieces); },
                    most);
              }),
        source(pair_.client.region(kSize, Access::kRemoteRead)),
        sink(pair_.server.region(kSize, Access::kLocalWrite | Access::kRemoteWrite)) {
    source.memory.fill(kBefore);
    pair_.run_for(100ms);
    started_ = true;
  }

  bool write() {
    const Sge from = source.sge();
    post(pair_.client, write_of(1, {&from, 1}, sink.key(), sink.to(0)));
    return pair_.run_until([&] { return !pair_.client.sent.empty(); }) && everything_arrives();
  }
  bool send() {
    const Sge from[] = {source.sge(0, kSize / 3), source.sge(kSize / 3, kSize - kSize / 3)};
    const Sge to = sink.sge();
    post(pair_.server, RecvWr{2, {&to, 1}});
    post(pair_.client, send_of(1, from));
    return pair_.run_until([&] { return !pair_.server.received.empty(); }) && everything_arrives();
  }
  bool be_read() {
    const Sge to = sink.sge();
    post(pair_.server, read_of(1, {&to, 1}, source.key(), source.to(0)));
    return pair_.run_until([&] { return !pair_.server.sent.empty(); }) && everything_arrives();
  }

  SimPair pair_;
  Region& source;
  Region& sink;
  std::size_t referenced = 0;  ///< Octets that were offered where the program has them.
  bool changes = false;        ///< Whether the source changes before each system call takes it.

 private:
  // Neither end has found a fault, and nothing is under way.
  bool everything_arrives() {
    pair_.run_for(100ms);
    return pair_.client.qp->state() == QpState::kRts && pair_.server.qp->state() == QpState::kRts;
  }
  void look_at(std::span<const iovec> pieces) {
    if (!started_) return;
    for (const iovec& piece : pieces) {
      const auto* at = static_cast<const std::byte*>(piece.iov_base);
      const bool inside = at >= source.memory.data() && at < source.memory.data() + kSize;
      if (inside) referenced += piece.iov_len;
    }
    if (changes) source.memory.fill(std::exchange(next_, next_ == kBefore ? kAfter : kBefore));
  }
  std::byte next_ = kAfter;
};

bool old_or_new(const Region& region) {
  return std::ranges::all_of(region.memory.bytes(),
                             [](std::byte b) { return b == kBefore || b == kAfter; });
}

using Operation = bool (Watched::*)();
struct Case {
  const char* name;
  Operation operation;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }
class SimSource : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Operations, SimSource,
                         testing::Values(Case{"Write", &Watched::write},
                                         Case{"Send", &Watched::send},
                                         Case{"ReadResponse", &Watched::be_read}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(SimSource, IsCopiedByDefault) {
  Watched watched(with_large_segments());
  ASSERT_TRUE((watched.*GetParam().operation)());
  EXPECT_EQ(watched.referenced, 0U);
  EXPECT_TRUE(std::ranges::equal(watched.sink.memory.bytes(), watched.source.memory.bytes()));
}

TEST_P(SimSource, MayChangeBetweenTheCrcAndTheSystemCall) {
  Watched watched(with_large_segments());
  watched.changes = true;
  ASSERT_TRUE((watched.*GetParam().operation)());
  EXPECT_TRUE(old_or_new(watched.sink));
}

// Each FPDU is cut several times, and what is left of it leaves as it was checked.
TEST_P(SimSource, MayChangeWhileAnFpduIsCut) {
  Watched watched(with_large_segments(), 2500);
  watched.changes = true;
  ASSERT_TRUE((watched.*GetParam().operation)());
  EXPECT_TRUE(old_or_new(watched.sink));
}

TEST_P(SimSource, MayChangeBetweenMarkers) {
  PairOptions options = with_large_segments();
  options.to_server = mpa::Markers::kOn;
  Watched watched(options, 2500);
  watched.changes = true;
  ASSERT_TRUE((watched.*GetParam().operation)());
  EXPECT_EQ(watched.referenced, 0U);
  EXPECT_TRUE(old_or_new(watched.sink));
}

// Nothing can contradict it then.
TEST_P(SimSource, IsReferencedWithoutCrc) {
  PairOptions options = with_large_segments();
  options.crc = mpa::Crc::kOff;
  Watched watched(options);
  watched.changes = true;
  ASSERT_TRUE((watched.*GetParam().operation)());
  EXPECT_GE(watched.referenced, kSize - kLargeEmss);
  EXPECT_TRUE(old_or_new(watched.sink));
}

// The promise is about what the program sends; what a peer reads, other peers may write.
TEST_P(SimSource, IsReferencedIfItIsPromisedToBeStable) {
  PairOptions options = with_large_segments();
  options.client.source_buffers = SourceBuffers::kStable;
  Watched watched(options);
  ASSERT_TRUE((watched.*GetParam().operation)());
  if (GetParam().operation == &Watched::be_read) {
    EXPECT_EQ(watched.referenced, 0U);
  } else {
    EXPECT_GE(watched.referenced, kSize - kLargeEmss);
  }
  EXPECT_TRUE(std::ranges::equal(watched.sink.memory.bytes(), watched.source.memory.bytes()));
}

}  // namespace
}  // namespace iwarp::verbs::simtest
