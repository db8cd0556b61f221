#include <ostream>

#include "verbs/raw_peer.hpp"

// Every way to end × what is under way × how the other end reads: what a program was told is done
// has arrived, or the program was told of a loss.
namespace iwarp::verbs::simtest {
namespace {

enum class Way { kDisconnect, kClose, kDrain, kDestroy, kFault, kAbort };
enum class Flow { kNothing, kSends, kWrites, kBothWays, kReads };
enum class Reading { kAtOnce, kPauses, kTrickles, kStops, kResets };

constexpr std::string_view kWayNames[] = {"disconnect", "close", "drain",
                                          "destroy",    "fault", "abort"};
constexpr std::string_view kFlowNames[] = {"nothing", "sends", "writes", "both_ways", "reads"};
constexpr std::string_view kReadingNames[] = {"at_once", "pauses", "trickles", "stops", "resets"};

struct EndCase {
  Way way;
  Flow flow;
  Reading reading;
};

std::string to_string(const EndCase& c) {
  std::string text(kWayNames[static_cast<std::size_t>(c.way)]);
  text += '_';
  text += kFlowNames[static_cast<std::size_t>(c.flow)];
  text += '_';
  text += kReadingNames[static_cast<std::size_t>(c.reading)];
  return text;
}

void PrintTo(const EndCase& c, std::ostream* out) { *out << to_string(c); }

std::vector<EndCase> all_cases() {
  std::vector<EndCase> all;
  for (std::size_t w = 0; w < std::size(kWayNames); ++w) {
    for (std::size_t f = 0; f < std::size(kFlowNames); ++f) {
      for (std::size_t r = 0; r < std::size(kReadingNames); ++r) {
        all.push_back({static_cast<Way>(w), static_cast<Flow>(f), static_cast<Reading>(r)});
      }
    }
  }
  return all;
}

SendWr reported(SendWr request) {
  request.flags = request.flags | SendFlags::kSignaled;
  return request;
}

constexpr std::size_t kEndMessages = 12;
constexpr std::size_t kEndSize = 3000;
constexpr auto kEndLinger = 60s;

// The client ends while octets lie in every buffer; the server is the one that reads as it likes.
class Ends : public testing::TestWithParam<EndCase> {
 protected:
  Ends() : pair_(options()) {
    for (std::size_t i = 0; i < kEndMessages; ++i) {
      Region& source = pair_.client.region(kEndSize, Access::kRemoteRead);
      source.memory.fill(std::byte{static_cast<unsigned char>(i + 1)});
      sources_.push_back(&source);
      sinks_.push_back(&pair_.server.region(kEndSize, Access::kLocalWrite | Access::kRemoteWrite));
      backs_.push_back(&pair_.client.region(kEndSize, Access::kLocalWrite));
    }
  }

  static PairOptions options() {
    PairOptions options;
    options.net.send_buffer = 8000;
    options.net.receive_buffer = 8000;
    options.client.timeouts.linger = options.server.timeouts.linger = kEndLinger;
    return options;
  }

  void post_flow() {
    for (std::size_t i = 0; i < kEndMessages; ++i) {
      const Sge from = sources_[i]->sge();
      const Sge to = sinks_[i]->sge();
      const Sge back = backs_[i]->sge();
      switch (GetParam().flow) {
        case Flow::kNothing: return;
        case Flow::kBothWays:
          post(pair_.client, RecvWr{i, {&back, 1}});
          post(pair_.server, send_of(i, {&to, 1}));
          [[fallthrough]];
        case Flow::kSends:
          post(pair_.server, RecvWr{i, {&to, 1}});
          post(pair_.client, reported(send_of(i, {&from, 1})));
          break;
        case Flow::kWrites:
          post(pair_.client, reported(write_of(i, {&from, 1}, sinks_[i]->key(), sinks_[i]->to(0))));
          break;
        case Flow::kReads:  // the responses are the client's
          post(pair_.server,
               reported(read_of(i, {&to, 1}, sources_[i]->key(), sources_[i]->to(0))));
          break;
      }
    }
  }
  void end_client() {
    soft::SoftQp& qp = *pair_.client.qp;
    switch (GetParam().way) {
      case Way::kDisconnect: return qp.disconnect();
      case Way::kClose:
      case Way::kDrain: return qp.close();
      case Way::kDestroy: return pair_.client.qp.reset();
      case Way::kAbort: return qp.abort();
      case Way::kFault: {
        const Sge nowhere{nullptr, 8, Stag{0x77}};
        const SendWr wrong = send_of(99, {&nowhere, 1});
        static_cast<void>(qp.post_send({&wrong, 1}));
      }
    }
  }

  void hear(bool hears) {
    pair_.server.host->deaf = !hears;
    pair_.server.collects = hears;
  }
  void read_as_the_case_says() {
    switch (GetParam().reading) {
      case Reading::kAtOnce: break;
      case Reading::kPauses:  // below the time that the other end lingers
        pair_.run_for(kEndLinger - 5s);
        break;
      case Reading::kTrickles:
        for (int i = 0; i < 20; ++i) {
          pair_.run_for(30s);
          hear(true);
          pair_.turn();
          hear(false);
        }
        break;
      case Reading::kStops: pair_.run_for(20 * kEndLinger); break;
      case Reading::kResets:
        pair_.run_for(1s);
        pair_.server.qp->abort();
        break;
    }
    hear(true);
  }

  [[nodiscard]] bool told_of_loss() {
    if (!pair_.client.qp) return !pair_.client.host->failed_closings.empty();
    return pair_.client.ended_badly();
  }

  SimPair pair_;
  std::vector<Region*> sources_, sinks_, backs_;
};

TEST_P(Ends, DeliverWhatWasReportedDoneOrSayThatTheyDidNot) {
  pair_.run_for(1ms);
  hear(false);
  post_flow();
  pair_.run_for(10ms);
  end_client();
  read_as_the_case_says();
  ASSERT_TRUE(pair_.run_until(
      [&] { return pair_.server.closed() && (!pair_.client.qp || pair_.client.closed()); }, 600s));
  pair_.run_for(2 * kEndLinger);
  EXPECT_EQ(pair_.client.host->seeing_off(), 0U);

  const EndCase& c = GetParam();
  const bool sends = c.flow == Flow::kSends || c.flow == Flow::kBothWays || c.flow == Flow::kWrites;
  for (const Completion& done : pair_.client.sent) {
    if (done.status != Status::kSuccess || !sends || told_of_loss()) continue;
    EXPECT_EQ(sinks_[done.wr_id]->memory.bytes().back(),
              sources_[done.wr_id]->memory.bytes().back())
        << "request " << done.wr_id << " was reported done, and nothing was said of a loss";
  }
  for (const Completion& done : pair_.server.sent) {
    if (c.flow != Flow::kReads || done.status != Status::kSuccess) continue;
    EXPECT_EQ(sinks_[done.wr_id]->memory.bytes().back(),
              sources_[done.wr_id]->memory.bytes().back());
  }
  const bool lives = c.reading != Reading::kStops && c.reading != Reading::kResets;
  const bool graceful = c.way != Way::kAbort && c.way != Way::kFault;
  if (lives && graceful) {
    EXPECT_FALSE(told_of_loss()) << "a peer that lives gets everything, however slow it is";
    EXPECT_FALSE(pair_.server.end_reason().code) << pair_.server.end_reason().message;
  }
  if (c.way == Way::kAbort) {
    EXPECT_TRUE(told_of_loss());
  }
}

INSTANTIATE_TEST_SUITE_P(, Ends, testing::ValuesIn(all_cases()),
                         [](const auto& of) { return to_string(of.param); });

// ---- What the grid does not show ----

class SlowReader : public testing::Test {
 protected:
  static PairOptions options() {
    PairOptions options;
    options.net.send_buffer = options.net.receive_buffer = 4000;
    return options;
  }
  // Reads a little once in `pause`, until both ends are over.
  void read_slowly(std::chrono::nanoseconds pause) {
    for (int i = 0; i < 1000 && !(pair_.client.closed() && pair_.server.closed()); ++i) {
      pair_.server.host->deaf = false;
      pair_.turn();
      pair_.server.host->deaf = true;
      pair_.run_for(pause);
    }
  }
  SimPair pair_{options()};
};

// The time runs anew with each octet: altogether this takes many times the limit of silence.
TEST_F(SlowReader, GetsWhatWasPostedHoweverLongThatTakes) {
  Region& source = pair_.client.region(400'000, Access::kNone);
  Region& sink = pair_.server.region(400'000, Access::kLocalWrite | Access::kRemoteWrite);
  source.memory.fill(std::byte{0x5A});
  const Sge from = source.sge();
  pair_.run_for(1ms);
  pair_.server.host->deaf = true;
  post(pair_.client, write_of(1, {&from, 1}, sink.key(), sink.to(0)));
  pair_.client.qp->disconnect();
  read_slowly(20s);
  pair_.turn();
  ASSERT_TRUE(pair_.client.closed());
  EXPECT_EQ(statuses(pair_.client.sent), std::vector{Status::kSuccess});
  EXPECT_FALSE(pair_.client.end_reason().code) << pair_.client.end_reason().message;
  EXPECT_EQ(sink.memory.bytes().back(), std::byte{0x5A});
}

// RFC 5041 §6.2.1: reception goes on after the own half has ended.
TEST_F(SlowReader, PeerThatStillSendsAfterOurFinIsHeardToItsEnd) {
  constexpr std::size_t kCount = 40;
  Region& source = pair_.server.region(3000, Access::kNone);
  Region& inbox = pair_.client.region(3000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = inbox.sge();
  for (std::size_t i = 0; i < kCount; ++i) post(pair_.client, RecvWr{i, {&to, 1}});
  pair_.run_for(1ms);
  pair_.client.qp->disconnect();
  pair_.client.host->deaf = true;
  for (std::size_t i = 0; i < kCount; ++i) post(pair_.server, send_of(i, {&from, 1}));
  for (std::size_t i = 0; i < 20 && !pair_.client.closed(); ++i) {
    pair_.run_for(25s);
    pair_.client.host->deaf = false;
    pair_.turn();
    pair_.client.host->deaf = true;
  }
  pair_.client.host->deaf = false;
  ASSERT_TRUE(pair_.run_until_closed(600s));
  pair_.turn();
  EXPECT_EQ(statuses(pair_.client.received), std::vector(kCount, Status::kSuccess));
  EXPECT_EQ(statuses(pair_.server.sent), std::vector(kCount, Status::kSuccess));
}

// The peer has closed its socket, and answers what is sent behind its FIN by a reset: what had been
// reported done is lost, and the end is not a graceful one.
TEST(EndsOfAHalf, PeerThatHasClosedAltogetherLosesWhatWasSent) {
  PairOptions options = RawPair::without_rtr();
  options.net.latency = 50ms;
  RawPair pair(options);
  pair.run_for(200ms);
  pair.peer.close();
  post(pair.end, reported(send_of(1, {})));
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 10s));
  pair.turn();
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kSuccess}) << "TCP had taken it";
  EXPECT_TRUE(pair.end.end_reason().code) << "and it never arrived";
}

// As above, but everything has arrived before: then there is nothing to complain about.
TEST(EndsOfAHalf, PeerThatClosesWithEverythingReadIsGraceful) {
  PairOptions options = RawPair::without_rtr();
  options.net.latency = 50ms;
  RawPair pair(options);
  post(pair.end, reported(send_of(1, {})));
  pair.run_for(200ms);
  ASSERT_EQ(pair.peer.came.size(), 1U);
  pair.peer.close();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 10s));
  pair.turn();
  EXPECT_FALSE(pair.end.end_reason().code) << pair.end.end_reason().message;
}

}  // namespace
}  // namespace iwarp::verbs::simtest
