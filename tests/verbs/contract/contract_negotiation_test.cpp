// What every provider promises of what both ends agree on.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class NegotiationContract : public Contract {
 protected:
  // An option that not every provider knows: it is in force, or asking for it is refused.
  bool is_refused(const ConnectOptions& asked) {
    End end(client);
    const Listening listening = listen();
    const std::error_code code = refusal(end.qp->start_connect(listening.endpoint(), asked));
    return code == std::errc::not_supported || code == std::errc::invalid_argument;
  }
  End left{client}, right{server};
};
IWARP_IN_EVERY_WORLD(NegotiationContract);

TEST_P(NegotiationContract, ReadsAreLimitedByWhatThePeerHolds) {
  ASSERT_TRUE(connect(left, right, {.private_data = {}, .ird = 3, .ord = 8},
                      {.private_data = {}, .ird = 2, .ord = 8}));
  const ConnectionInfo here = left.told->first(Kind::kEstablished).info;
  const ConnectionInfo there = right.told->first(Kind::kEstablished).info;
  EXPECT_LE(here.ord, there.ird);
  EXPECT_LE(there.ord, here.ird);
  EXPECT_GE(here.ord, 1);
}

TEST_P(NegotiationContract, MoreReadsThanMayBeUnderWayAreAllDone) {
  ASSERT_TRUE(connect(left, right, {.private_data = {}, .ord = 2}, {.private_data = {}, .ird = 2}));
  constexpr std::size_t kReads = 50;
  const Bytes content = pattern(kReads * 1000);
  const Buffer& source = server.buffer(content);
  const Buffer& sink = client.buffer(content.size());
  for (std::size_t i = 0; i < kReads; ++i) {
    const Sge scatter = sink.sge(i * 1000, 1000);
    post(left, read_of(i, {&scatter, 1}, source, i * 1000));
  }
  ASSERT_TRUE(until([&] { return client.sent.size() == kReads; }));
  EXPECT_EQ(statuses(client.sent), std::vector<Status>(kReads, Status::kSuccess));
  EXPECT_TRUE(sink.content() == content);
}

TEST_P(NegotiationContract, BothEndsReadAtATime) {
  ASSERT_TRUE(connect(left, right, {.private_data = {}, .ird = 1, .ord = 1},
                      {.private_data = {}, .ird = 1, .ord = 1}));
  constexpr std::size_t kReads = 10;
  const Bytes here = pattern(1000, 1);
  const Bytes there = pattern(1000, 2);
  const Buffer& left_source = client.buffer(here);
  const Buffer& right_source = server.buffer(there);
  const Buffer& left_sink = client.buffer(1000);
  const Buffer& right_sink = server.buffer(1000);
  const Sge left_scatter = left_sink.sge();
  const Sge right_scatter = right_sink.sge();
  // The accepting end waits for the peer's first FPDU, which comes by itself.
  for (std::size_t i = 0; i < kReads; ++i) {
    post(left, read_of(i, {&left_scatter, 1}, right_source));
    post(right, read_of(i, {&right_scatter, 1}, left_source));
  }
  ASSERT_TRUE(until([&] { return client.sent.size() == kReads && server.sent.size() == kReads; }));
  EXPECT_EQ(left_sink.content(), there);
  EXPECT_EQ(right_sink.content(), here);
}

TEST_P(NegotiationContract, MoreReadsThanTheDeviceHasAreNotAskedFor) {
  const std::uint32_t beyond = world->client().attributes().max_ird + 1U;
  if (beyond > UINT16_MAX) GTEST_SKIP() << "there is no limit that could be exceeded";
  EXPECT_TRUE(is_refused({.private_data = {}, .ird = static_cast<std::uint16_t>(beyond)}));
}

TEST_P(NegotiationContract, AnUnknownRevisionIsRefused) {
  EXPECT_TRUE(is_refused({.private_data = {}, .mpa_revision = 9}));
}

TEST_P(NegotiationContract, CrcIsUsedIfEitherEndRequiresIt) {
  IWARP_NEEDS(Capability::kMpaChoices);
  ASSERT_TRUE(connect(left, right, {.private_data = {}, .require_crc = false},
                      {.private_data = {}, .require_crc = true}));
  EXPECT_TRUE(left.told->first(Kind::kEstablished).info.crc);
  EXPECT_TRUE(right.told->first(Kind::kEstablished).info.crc);
  expect_service(left, right);
}

TEST_P(NegotiationContract, Revision1IsSpokenOrRefused) {
  const ConnectOptions asked{.private_data = {}, .mpa_revision = 1};
  if (!can(Capability::kRevision1)) {
    EXPECT_TRUE(is_refused(asked));
    return;
  }
  ASSERT_TRUE(connect(left, right, asked));
  EXPECT_EQ(left.told->first(Kind::kEstablished).info.mpa_revision, 1);
  EXPECT_EQ(right.told->first(Kind::kEstablished).info.mpa_revision, 1);
  expect_service(left, right);  // the initiator begins
  expect_service(right, left);
}

TEST_P(NegotiationContract, MarkersAreSentOrRefused) {
  const ConnectOptions asked{.private_data = {}, .want_markers = true};
  if (!can(Capability::kMarkers)) {
    EXPECT_TRUE(is_refused(asked));
    return;
  }
  ASSERT_TRUE(connect(left, right, asked, asked));
  EXPECT_TRUE(left.told->first(Kind::kEstablished).info.markers_received);
  EXPECT_TRUE(left.told->first(Kind::kEstablished).info.markers_sent);
  const Bytes content = pattern(50'000);
  const Sge gather = client.buffer(content).sge();
  const Buffer& target = server.buffer(content.size());
  EXPECT_EQ(run(left, write_of(1, {&gather, 1}, target)).status, Status::kSuccess);
  expect_service(left, right);
  EXPECT_TRUE(target.content() == content);
}

TEST_P(NegotiationContract, WhatIsNoSocketIsNotAdopted) {
  StreamingSocket none;
  const std::errc wanted =
      can(Capability::kAdoptsSockets) ? std::errc::bad_file_descriptor : std::errc::not_supported;
  EXPECT_EQ(refusal(left.qp->start_adopt(none)), wanted);
  EXPECT_EQ(
      refusal(world->server().start_await_request(none, {}, [](Outcome<ConnectionRequest>) {})),
      wanted);
  EXPECT_EQ(left.qp->state(), QpState::kIdle);
}

}  // namespace
}  // namespace iwarp::verbs::contract
