#include <gmock/gmock.h>

#include "conformance/fake_run.hpp"
#include "report/story.hpp"

namespace iwarp::conform::test {
namespace {

using Kind = Event::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

// The kinds of what is told, but for events of the socket that are told as frames, too.
std::vector<Kind> kinds_of(const std::vector<Told>& story) {
  std::vector<Kind> kinds;
  for (const Told& told : story) {
    if (!told.framed) kinds.push_back(told.event.kind);
  }
  return kinds;
}

TEST(Story, TellsTheSameOctetsOnce) {
  FakeCase fake("ddp.a.b");
  fake.connect().send(untagged_segment(kSend, 0, 1, 0, pattern(9)));
  const auto story = story_of(fake.pass().transcript);
  EXPECT_EQ(story.size(), 7U);
  EXPECT_THAT(kinds_of(story), ElementsAre(Kind::kConnected, Kind::kStartupSent,
                                           Kind::kStartupReceived, Kind::kFpduSent));
}

TEST(Story, TellsFpdusThatTheCaseDidNotWaitFor) {
  FakeCase fake("ddp.a.b");
  fake.connect(true).receive(untagged_segment(kSend, 0, 1, 0, pattern(700)));
  const Octets second = fake.received_frame(untagged_segment(kSend, 0, 2, 0, pattern(600)));
  const Octets third = fake.received_frame(untagged_segment(kSend, 0, 3, 0, pattern(5)));
  // They come in two reads that cut the second one.
  fake.receive_unseen(OctetView(second).first(100));
  Octets rest(second.begin() + 100, second.end());
  put(rest, OctetView(third).first(15));
  fake.receive_unseen(rest);
  const auto story = story_of(fake.fail("nothing", "two FPDUs").transcript);
  ASSERT_EQ(story.size(), 12U);
  EXPECT_EQ(story[9].event.octets, second);
  EXPECT_EQ(story[9].decoded.summary,
            "Send (QN 0, MSN 2, MO 0, 600 octets, last); the case did not wait for it");
  EXPECT_THAT(story[9].event.faults, testing::IsEmpty());
  EXPECT_EQ(story[10].event.octets.size(), 15U);
  EXPECT_THAT(story[10].decoded.summary, HasSubstr("15 octets that are no whole frame: a ULPDU"));
  EXPECT_EQ(story[11].event.kind, Kind::kFailure);
}

TEST(Story, KnowsTheFramingFromTheStartUpFrames) {
  FakeCase fake("ddp.a.b");
  fake.connect(true);
  fake.receive_unseen(fake.received_frame(untagged_segment(kSend, 0, 1, 0, pattern(600))));
  const auto story = story_of(fake.pass().transcript);
  EXPECT_EQ(story.back().decoded.summary,
            "Send (QN 0, MSN 1, MO 0, 600 octets, last); the case did not wait for it");
}

TEST(Story, TellsAPieceOfAStartUpFrame) {
  FakeCase fake("mpa.a.b");
  fake.receive_unseen(octets("MPA ID Rep"));
  const auto story = story_of(fake.pass().transcript);
  EXPECT_EQ(story.back().decoded.summary,
            "10 octets that are no whole frame: the beginning of a start-up frame, cut off; "
            "irregular: Key");
}

TEST(Story, TellsOctetsThatAreNothingAsOctets) {
  FakeCase fake("mpa.a.b");
  fake.receive_unseen(octets("HTTP/1.1"));
  fake.event({.kind = Kind::kRawSent, .octets = octets("junk")});
  const auto story = story_of(fake.pass().transcript);
  EXPECT_THAT(kinds_of(story), ElementsAre(Kind::kRawReceived, Kind::kRawSent));
  EXPECT_EQ(story[1].decoded.summary, "8 octets that are no whole frame");
  EXPECT_EQ(story[2].event.octets, octets("junk"));
}

TEST(Story, TellsSentOctetsThatDifferFromTheirFrame) {
  FakeCase fake("mpa.a.b");
  fake.event({.kind = Kind::kFpduSent, .octets = octets("one frame")});
  fake.event({.kind = Kind::kRawSent, .octets = octets("one")});
  fake.event({.kind = Kind::kRawSent, .octets = octets(" frome")});
  const auto story = story_of(fake.pass().transcript);
  EXPECT_TRUE(story[1].framed);
  EXPECT_FALSE(story[2].framed);
}

}  // namespace
}  // namespace iwarp::conform::test
