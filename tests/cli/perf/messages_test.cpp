#include "perf/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iwarp::cli::perf {
namespace {

constexpr verbs::RemoteBuffer kBuffer{Stag{0x01020304}, 0x1122334455667788, 65536};
// Where the fields are: magic 0, version 4, kind or markers 5, body 8.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kBodyAt = 8;

Proposal example_proposal() {
  return {{Operation::kSend, Figure::kLatency, Waiting::kEvents, Baseline::kRawTcp, 4096, 17},
          kBuffer};
}

void expect_equal(const verbs::RemoteBuffer& a, const verbs::RemoteBuffer& b) {
  EXPECT_EQ(a.stag, b.stag);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.length, b.length);
}

TEST(PerfMessages, GreetingSurvivesTheWire) {
  const auto greeting = Greeting::parse(Greeting{300, Markers::kWanted}.encode());
  ASSERT_TRUE(greeting);
  EXPECT_EQ(greeting->depth, 300U);
  EXPECT_EQ(greeting->markers, Markers::kWanted);
}

TEST(PerfMessages, GreetingOfAnotherLengthIsRefused) {
  const auto bytes = Greeting{300, Markers::kNone}.encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Greeting::parse(ConstBytes(bytes).first(length))) << length;
  }
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(Greeting::parse(longer));
}

TEST(PerfMessages, AGreetingThatIsRefusedIsToldWhy) {
  const auto reason_for = [](ConstBytes bytes) {
    const auto greeting = Greeting::parse(bytes);
    EXPECT_FALSE(greeting);
    return greeting ? Refused{} : greeting.error();
  };
  auto bytes = Greeting{300, Markers::kNone}.encode();
  bytes[kVersionAt] = std::byte{9};
  EXPECT_EQ(reason_for(bytes).reason, Refused::Reason::kBadVersion);
  EXPECT_EQ(reason_for(ConstBytes(bytes).first(kVersionAt + 1)).reason,
            Refused::Reason::kBadVersion);  // a later one may have another length
  EXPECT_THAT(reason_for(bytes).text, testing::HasSubstr("version 9"));
  bytes[0] = std::byte{0};
  EXPECT_EQ(reason_for(bytes).reason, Refused::Reason::kBadRequest);
  EXPECT_EQ(reason_for({}).reason, Refused::Reason::kBadRequest);
  EXPECT_THAT(reason_for(Greeting{8193, Markers::kNone}.encode()).text, testing::HasSubstr("8193"));
}

TEST(PerfMessages, ARefusalSurvivesTheWire) {
  const auto refused = parse<Refused>(encode(Refused{Refused::Reason::kNoMeans, "no room here"}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, Refused::Reason::kNoMeans);
  EXPECT_EQ(refused->text, "no room here");
  const std::string euros = "\xE2\x82\xAC\xE2\x82\xAC";
  const auto cut =
      parse<Refused>(encode(Refused{Refused::Reason::kEnded, std::string(50, 'x') + euros}));
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->text, std::string(50, 'x') + euros.substr(0, 3))
      << "whole characters of 54 octets";
}

TEST(PerfMessages, ARefusalHasWordsOfItsOwnForEachReason) {
  std::set<std::string> all;
  std::uint8_t reason = 1;
  for (; words_for(reason) != nullptr; ++reason) all.insert(words_for(reason));
  EXPECT_EQ(reason, static_cast<std::uint8_t>(Refused::Reason::kEnded) + 1);
  EXPECT_EQ(all.size(), static_cast<std::size_t>(Refused::Reason::kEnded));
}

TEST(PerfMessages, ARefusalWhoseTextDoesNotFitHasNone) {
  ControlBytes bytes = encode(Refused{Refused::Reason::kEnded, "text"});
  bytes[kBodyAt + 1] = std::byte{55};
  const auto refused = parse<Refused>(bytes);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->text, "");
}

TEST(PerfMessages, GreetingOutOfRangeIsRefused) {
  EXPECT_FALSE(Greeting::parse(Greeting{0, Markers::kNone}.encode()));
  EXPECT_FALSE(Greeting::parse(Greeting{kMaxDepth + 1, Markers::kNone}.encode()));
  EXPECT_FALSE(Greeting::parse(Greeting{1, static_cast<Markers>(2)}.encode()));
}

TEST(PerfMessages, ProposalSurvivesTheWire) {
  const auto proposal = parse<Proposal>(encode(example_proposal()));
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->workload.operation, Operation::kSend);
  EXPECT_EQ(proposal->workload.figure, Figure::kLatency);
  EXPECT_EQ(proposal->workload.waiting, Waiting::kEvents);
  EXPECT_EQ(proposal->workload.baseline, Baseline::kRawTcp);
  EXPECT_EQ(proposal->workload.size, 4096U);
  EXPECT_EQ(proposal->workload.depth, 17U);
  expect_equal(proposal->target, kBuffer);
}

TEST(PerfMessages, ReadySurvivesTheWire) {
  const auto ready = parse<Ready>(encode(Ready{kBuffer, 1024, 50123, 0xCAFEBABE12345678}));
  ASSERT_TRUE(ready);
  expect_equal(ready->target, kBuffer);
  EXPECT_EQ(ready->window, 1024U);
  EXPECT_EQ(ready->baseline_port, 50123U);
  EXPECT_EQ(ready->token, 0xCAFEBABE12345678U);
}

TEST(PerfMessages, StartReportAndCreditSurviveTheWire) {
  const auto start = parse<Start>(encode(Start{Flow::kRawTcp, std::chrono::milliseconds(250)}));
  ASSERT_TRUE(start);
  EXPECT_EQ(start->flow, Flow::kRawTcp);
  EXPECT_EQ(start->duration, std::chrono::milliseconds(250));
  const auto report =
      parse<Report>(encode(Report{7, std::chrono::nanoseconds(11), std::chrono::nanoseconds(13)}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->messages, 7U);
  EXPECT_EQ(report->process_time.count(), 11);
  EXPECT_EQ(report->thread_time.count(), 13);
  const auto credit = parse<Credit>(encode(Credit{1'000'000'000'000}));
  ASSERT_TRUE(credit);
  EXPECT_EQ(credit->taken, 1'000'000'000'000U);
}

TEST(PerfMessages, OneKindIsNotAnother) {
  const ControlBytes go = encode(Go{});
  EXPECT_EQ(control_kind(go), Kind::kGo);
  EXPECT_TRUE(parse<Go>(go));
  EXPECT_FALSE(parse<Stop>(go));
  EXPECT_FALSE(parse<Proposal>(go));
}

TEST(PerfMessages, DataIsNotControl) {
  const ControlBytes zeros{};
  EXPECT_FALSE(control_kind(zeros));
  const ControlBytes go = encode(Go{});
  EXPECT_FALSE(control_kind(ConstBytes(go).first(kControlSize - 1)));
  ControlBytes other_version = go;
  other_version[kVersionAt] = std::byte{kProtocolVersion + 1};
  EXPECT_FALSE(control_kind(other_version));
}

TEST(PerfMessages, ProposalOutOfRangeIsRefused) {
  for (std::size_t field = 0; field < 4; ++field) {
    for (const auto value : {std::byte{0}, std::byte{4}, std::byte{255}}) {
      ControlBytes bytes = encode(example_proposal());
      bytes[kBodyAt + field] = value;
      EXPECT_FALSE(parse<Proposal>(bytes)) << field << " " << static_cast<int>(value);
    }
  }
  for (const std::uint32_t size : {0U, kMaxSize + 1}) {
    Proposal proposal = example_proposal();
    proposal.workload.size = size;
    EXPECT_FALSE(parse<Proposal>(encode(proposal))) << size;
  }
  Proposal proposal = example_proposal();
  proposal.workload.depth = kMaxDepth + 1;
  EXPECT_FALSE(parse<Proposal>(encode(proposal)));
}

TEST(PerfMessages, EventsForTheLatencyOfWritesAreRefused) {
  Proposal proposal = example_proposal();
  proposal.workload.operation = Operation::kWrite;
  EXPECT_FALSE(parse<Proposal>(encode(proposal)));
  proposal.workload.waiting = Waiting::kPolling;
  EXPECT_TRUE(parse<Proposal>(encode(proposal)));
}

TEST(PerfMessages, StartWithoutATimeIsRefused) {
  using std::chrono::nanoseconds;
  EXPECT_FALSE(parse<Start>(encode(Start{Flow::kOurs, nanoseconds(0)})));
  EXPECT_FALSE(parse<Start>(encode(Start{Flow::kOurs, nanoseconds(-1)})));
  EXPECT_FALSE(parse<Start>(encode(Start{Flow::kOurs, std::chrono::hours(1)})));
  EXPECT_FALSE(parse<Start>(encode(Start{static_cast<Flow>(3), std::chrono::seconds(1)})));
}

}  // namespace
}  // namespace iwarp::cli::perf
