#include <gtest/gtest.h>

#include <memory>

#include "connection/peer.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/mpa/mulpdu.hpp"

// FPDUs that are planned in runs: the stream is the one that segments make one by one, wherever TCP
// cuts it.
namespace iwarp::test {
namespace {

using connection::Offer;
using connection::RequestFault;
using connection::Terms;
using ddp::Rights;
using rdmap::Operation;

constexpr std::size_t kFpdu = 256;
constexpr std::uint32_t kMessage = 1100;  // four FPDUs of a run, and one that is shorter

struct Kind {
  Operation operation;
  bool markers;
  bool stable;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << (kind.operation == Operation::kSend    ? "send"
                 : kind.operation == Operation::kWrite ? "write"
                                                       : "read response")
             << (kind.markers ? ", markers" : "") << (kind.stable ? ", stable" : "");
}

// An end that has one message to send, from a list of odd pieces, and the other end.
class RunWorld {
 public:
  explicit RunWorld(const Kind& kind)
      : kind_(kind), from(sender, terms(kind)), to(receiver, terms(kind)) {
    from.mulpdu = to.mulpdu =
        mpa::mulpdu(kFpdu, kind.markers ? mpa::Markers::kOn : mpa::Markers::kOff);
    const Ulpdu data = pattern(kMessage);
    std::ranges::copy(data, source.memory.data());
    receiver.receives.post(1, {inbox.sge(0, kMessage)});
    const std::vector<ddp::Sge> pieces{source.sge(0, 1), source.sge(1, 699), source.sge(700, 0),
                                       source.sge(700, 400)};
    if (kind.operation == Operation::kRead) {
      receiver.post(request_of(kind.operation, source.stag, source.to(0)),
                    {inbox.sge(0, kMessage)});
      from.receive(to.send());
    } else {
      sender.post(request_of(kind.operation, inbox.stag, inbox.to(0)), pieces);
    }
  }

  // As Peer::send_within(), in offers of up to `most` octets in all.
  Octets send(std::size_t accepted, std::size_t most = 65536) {
    const Octets octets = from.send_within({.mulpdu = from.mulpdu, .quantum = most}, accepted);
    EXPECT_FALSE(from.fault);
    return octets;
  }
  Octets send_all(std::size_t most = 65536) {
    const Octets all = from.send_all_within({.mulpdu = from.mulpdu, .quantum = most});
    EXPECT_FALSE(from.fault);
    return all;
  }
  void expect_arrival(const Octets& octets) {
    to.receive(octets);
    EXPECT_FALSE(to.events.fault);
    EXPECT_TRUE(std::ranges::equal(inbox.part(0, kMessage), pattern(kMessage)));
  }

 private:
  static Terms terms(const Kind& kind) {
    Terms terms = usual_terms(kind.markers ? mpa::Markers::kOn : mpa::Markers::kOff);
    if (kind.stable) terms.source = connection::SourceMemory::kStable;
    return terms;
  }
  Kind kind_;

 public:
  Endpoint sender, receiver;
  Region& source = sender.enable(kMessage, Rights::kRemoteRead);
  Region& inbox = receiver.enable(kMessage, Rights::kLocalWrite | Rights::kRemoteWrite);
  Peer from, to;
};

// How many octets of the FPDU in which a stream is cut are behind the cut.
std::size_t left_of_fpdu(const Octets& stream, std::size_t cut, bool markers) {
  mpa::Framer framer(mpa::Crc::kOn, markers ? mpa::Markers::kOn : mpa::Markers::kOff);
  std::size_t end = 0;
  while (end < cut) {
    const std::size_t to_marker = end % 512 == 0 && markers ? 4 : 0;
    end += framer.pass(load_be<std::uint16_t>(&stream[end + to_marker]));
  }
  return end - cut;
}

class OutboundRuns : public testing::TestWithParam<Kind> {};

TEST_P(OutboundRuns, MakeTheStreamThatSegmentsOneByOneMake) {
  RunWorld runs(GetParam());
  RunWorld singly(GetParam());
  const Octets octets = runs.send_all();
  EXPECT_EQ(singly.send_all(1), octets);
  runs.expect_arrival(octets);
  EXPECT_EQ(runs.from.core.outbound().counters().fpdus, 5U);
  EXPECT_EQ(singly.from.core.outbound().counters().fpdus, 5U);
}

TEST_P(OutboundRuns, GoOnWhereTcpHasCutThem) {
  const Octets all = RunWorld(GetParam()).send_all();
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    SCOPED_TRACE(cut);
    RunWorld world(GetParam());
    Octets octets = world.send(cut);
    ASSERT_EQ(octets.size(), cut);
    const std::size_t rest = world.from.core.outbound().rest().size();
    EXPECT_EQ(rest, left_of_fpdu(all, cut, GetParam().markers));
    const Octets more = world.send_all();
    octets.insert(octets.end(), more.begin(), more.end());
    ASSERT_EQ(octets, all);
    EXPECT_EQ(world.from.core.outbound().counters().fpdus, 5U);
  }
}

// What is looked up and remembered for a message does not depend on how many FPDUs it makes.
TEST_P(OutboundRuns, AreOneForTheWholeMessageButItsLastFpdu) {
  RunWorld world(GetParam());
  const auto& batch = world.from.batch;
  const Offer offer =
      world.from.core.outbound().offer(world.from.batch, {.mulpdu = world.from.mulpdu});
  EXPECT_FALSE(offer.pieces.empty());
  EXPECT_EQ(batch.fpdus(), 5U);
  EXPECT_EQ(batch.runs(), 2U);
  EXPECT_EQ(batch.pins(), 1U);
  EXPECT_FALSE(world.from.core.outbound().sent(world.from.batch, 0, world.from.released));
}

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, OutboundRuns,
    testing::Values(Kind{Operation::kSend, false, false}, Kind{Operation::kSend, true, false},
                    Kind{Operation::kWrite, false, false}, Kind{Operation::kWrite, true, false},
                    Kind{Operation::kWrite, false, true}, Kind{Operation::kRead, false, false},
                    Kind{Operation::kRead, true, false}));

}  // namespace
}  // namespace iwarp::test
