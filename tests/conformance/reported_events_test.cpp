#include "report/reported_events.hpp"

#include <gmock/gmock.h>

#include "conformance/fake_run.hpp"

namespace iwarp::conform::test {
namespace {

using Kind = Event::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

// The kinds of what is told, but for events of the socket that are told as frames, too.
std::vector<Kind> kinds_of(const std::vector<ReportedEvent>& reported) {
  std::vector<Kind> kinds;
  for (const ReportedEvent& each : reported) {
    if (!each.framed) kinds.push_back(each.event.kind);
  }
  return kinds;
}

TEST(ReportedEvents, HaveTheSameOctetsOnce) {
  FakeCase fake("ddp.a.b");
  fake.connect().send(untagged_segment(kSend, 0, 1, 0, pattern(9)));
  const auto reported = reported_events(fake.pass().transcript);
  EXPECT_EQ(reported.size(), 7U);
  EXPECT_THAT(kinds_of(reported), ElementsAre(Kind::kConnected, Kind::kStartupSent,
                                              Kind::kStartupReceived, Kind::kFpduSent));
}

TEST(ReportedEvents, HaveFpdusThatTheCaseDidNotWaitFor) {
  FakeCase fake("ddp.a.b");
  fake.connect(true).receive(untagged_segment(kSend, 0, 1, 0, pattern(700)));
  const Octets second = fake.received_frame(untagged_segment(kSend, 0, 2, 0, pattern(600)));
  const Octets third = fake.received_frame(untagged_segment(kSend, 0, 3, 0, pattern(5)));
  // They come in two reads that cut the second one.
  fake.receive_unseen(OctetView(second).first(100));
  Octets rest(second.begin() + 100, second.end());
  put(rest, OctetView(third).first(15));
  fake.receive_unseen(rest);
  const auto reported = reported_events(fake.fail("nothing", "two FPDUs").transcript);
  ASSERT_EQ(reported.size(), 12U);
  EXPECT_EQ(reported[9].event.octets, second);
  EXPECT_EQ(reported[9].decoded.summary,
            "Send (QN 0, MSN 2, MO 0, 600 octets, last); the case did not wait for it");
  EXPECT_THAT(reported[9].event.faults, testing::IsEmpty());
  EXPECT_EQ(reported[10].event.octets.size(), 15U);
  EXPECT_THAT(reported[10].decoded.summary,
              HasSubstr("15 octets that are no whole frame: a ULPDU"));
  EXPECT_EQ(reported[11].event.kind, Kind::kFailure);
}

TEST(ReportedEvents, HaveTheFramingFromTheStartUpFrames) {
  FakeCase fake("ddp.a.b");
  fake.connect(true);
  fake.receive_unseen(fake.received_frame(untagged_segment(kSend, 0, 1, 0, pattern(600))));
  const auto reported = reported_events(fake.pass().transcript);
  EXPECT_EQ(reported.back().decoded.summary,
            "Send (QN 0, MSN 1, MO 0, 600 octets, last); the case did not wait for it");
}

TEST(ReportedEvents, HaveAPieceOfAStartUpFrame) {
  FakeCase fake("mpa.a.b");
  fake.receive_unseen(octets("MPA ID Rep"));
  const auto reported = reported_events(fake.pass().transcript);
  EXPECT_EQ(reported.back().decoded.summary,
            "10 octets that are no whole frame: the beginning of a start-up frame, cut off; "
            "irregular: Key");
}

TEST(ReportedEvents, HaveOctetsThatAreNothingAsOctets) {
  FakeCase fake("mpa.a.b");
  fake.receive_unseen(octets("HTTP/1.1"));
  fake.event({.kind = Kind::kRawSent, .octets = octets("junk")});
  const auto reported = reported_events(fake.pass().transcript);
  EXPECT_THAT(kinds_of(reported), ElementsAre(Kind::kRawReceived, Kind::kRawSent));
  EXPECT_EQ(reported[1].decoded.summary, "8 octets that are no whole frame");
  EXPECT_EQ(reported[2].event.octets, octets("junk"));
}

TEST(ReportedEvents, HaveSentOctetsThatDifferFromTheirFrame) {
  FakeCase fake("mpa.a.b");
  fake.event({.kind = Kind::kFpduSent, .octets = octets("one frame")});
  fake.event({.kind = Kind::kRawSent, .octets = octets("one")});
  fake.event({.kind = Kind::kRawSent, .octets = octets(" frome")});
  const auto reported = reported_events(fake.pass().transcript);
  EXPECT_TRUE(reported[1].framed);
  EXPECT_FALSE(reported[2].framed);
}

}  // namespace
}  // namespace iwarp::conform::test
