// What every provider promises of requests for memory that must not be used: the connection ends,
// and nothing is touched.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

// Waits for the end that a fault brings about.
class Refused : public ConnectedContract {
 protected:
  // The connection ends at both sides, each is told once, and what was posted completes.
  void expect_ended() {
    ASSERT_TRUE(until_over(left, right));
    settle();
    EXPECT_EQ(left.told->count(Kind::kDisconnected), 1U);
    EXPECT_EQ(right.told->count(Kind::kDisconnected), 1U);
    EXPECT_EQ(left.qp->state(), QpState::kError);
    EXPECT_EQ(right.qp->state(), QpState::kError);
  }
  // The last request of the left end fails, as its own fault or the peer's refusal, or is flushed.
  void expect_last_failed() {
    ASSERT_TRUE(until([&] { return !client.sent.empty(); }));
    EXPECT_NE(client.sent.back().status, Status::kSuccess);
  }
  const Bytes untouched = pattern(256, 77);
};

// How a peer asks for memory that it must not have.
enum class Trespass { kUnknownStag, kOutOfRange, kBeforeTheStart, kNoRight, kOtherDomain, kEnded };

class TrespassContract : public Refused {
 protected:
  // The region that is asked for, as the trespass has it.
  Buffer& target(Trespass trespass) {
    if (trespass == Trespass::kOtherDomain) {
      other_pd = world->server().alloc_pd().value();
      return foreign.emplace_back(*other_pd, untouched.size(), kReachable);
    }
    const bool denied = trespass == Trespass::kNoRight;
    return server.buffer(untouched, denied ? Access::kLocalWrite : kReachable);
  }
  void trespass(Opcode opcode, Trespass how) {
    Buffer& there = target(how);
    there.fill(untouched);
    const Buffer& here = client.buffer(untouched.size());
    const Sge sge = here.sge();
    SendWr request =
        opcode == Opcode::kWrite ? write_of(1, {&sge, 1}, there) : read_of(1, {&sge, 1}, there);
    if (how == Trespass::kUnknownStag) request.remote_stag = Stag(there.key().value() ^ 0x5500U);
    if (how == Trespass::kOutOfRange) request.remote_offset += 1;
    if (how == Trespass::kBeforeTheStart) request.remote_offset -= 1;
    if (how == Trespass::kEnded) there.region.reset();
    post(left, request);
    expect_ended();
    if (opcode == Opcode::kRead) expect_last_failed();
    EXPECT_EQ(there.content(), untouched);
    EXPECT_EQ(here.content(), Bytes(untouched.size()));
    EXPECT_TRUE(client.intact() && server.intact());
  }

  std::optional<ProtectionDomain> other_pd;
  std::deque<Buffer> foreign;
};
IWARP_IN_EVERY_WORLD(TrespassContract);

TEST_P(TrespassContract, AWriteToAnUnknownStagEndsIt) {
  trespass(Opcode::kWrite, Trespass::kUnknownStag);
}
TEST_P(TrespassContract, AWriteBeyondTheRegionEndsIt) {
  trespass(Opcode::kWrite, Trespass::kOutOfRange);
}
TEST_P(TrespassContract, AWriteBeforeTheRegionEndsIt) {
  trespass(Opcode::kWrite, Trespass::kBeforeTheStart);
}
TEST_P(TrespassContract, AWriteWithoutTheRightEndsIt) {
  trespass(Opcode::kWrite, Trespass::kNoRight);
}
TEST_P(TrespassContract, AWriteToAnotherDomainEndsIt) {
  trespass(Opcode::kWrite, Trespass::kOtherDomain);
}
TEST_P(TrespassContract, AWriteToARegionThatHasEndedEndsIt) {
  trespass(Opcode::kWrite, Trespass::kEnded);
}
TEST_P(TrespassContract, AReadOfAnUnknownStagEndsIt) {
  trespass(Opcode::kRead, Trespass::kUnknownStag);
}
TEST_P(TrespassContract, AReadBeyondTheRegionEndsIt) {
  trespass(Opcode::kRead, Trespass::kOutOfRange);
}
TEST_P(TrespassContract, AReadBeforeTheRegionEndsIt) {
  trespass(Opcode::kRead, Trespass::kBeforeTheStart);
}
TEST_P(TrespassContract, AReadWithoutTheRightEndsIt) {
  trespass(Opcode::kRead, Trespass::kNoRight);
}
TEST_P(TrespassContract, AReadOfAnotherDomainEndsIt) {
  trespass(Opcode::kRead, Trespass::kOtherDomain);
}
TEST_P(TrespassContract, AReadOfARegionThatHasEndedEndsIt) {
  trespass(Opcode::kRead, Trespass::kEnded);
}

TEST_P(TrespassContract, AnotherConnectionGoesOn) {
  End other_left(client);
  End other_right(server);
  ASSERT_TRUE(connect(other_left, other_right));
  trespass(Opcode::kWrite, Trespass::kUnknownStag);
  expect_service(other_left, other_right);
  expect_service(other_right, other_left);
  EXPECT_EQ(other_left.told->count(), 1U);
  EXPECT_EQ(other_right.told->count(), 1U);
}

TEST_P(TrespassContract, TheTerminateIsShownToBoth) {
  if (!can(Capability::kTerminateShown)) {
    trespass(Opcode::kRead, Trespass::kOutOfRange);
    EXPECT_FALSE(left.qp->terminate_received() || right.qp->terminate_sent());
    return;
  }
  EXPECT_FALSE(left.qp->terminate_received() || right.qp->terminate_sent());
  trespass(Opcode::kRead, Trespass::kOutOfRange);
  const auto sent = right.qp->terminate_sent();
  const auto received = left.qp->terminate_received();
  ASSERT_TRUE(sent && received);
  EXPECT_EQ(sent->layer, received->layer);
  EXPECT_EQ(sent->type, received->type);
  EXPECT_EQ(sent->code, received->code);
  EXPECT_EQ(sent->type, 1) << "protection";
}

TEST_P(TrespassContract, TheDiagnosisNamesTheSide) {
  trespass(Opcode::kRead, Trespass::kUnknownStag);
  const Diagnosis here = left.qp->diagnosis();
  const Diagnosis there = right.qp->diagnosis();
  if (can(Capability::kDiagnosis)) {
    EXPECT_EQ(here.by, EndedBy::kPeerTerminate);
    EXPECT_EQ(there.by, EndedBy::kStack);
    EXPECT_FALSE(there.graceful);
  }
  EXPECT_FALSE(here.graceful);
  EXPECT_FALSE(here.sentence.empty() || there.sentence.empty());
}

TEST_P(TrespassContract, AnEventTellsOfThePeersTrespass) {
  IWARP_NEEDS(Capability::kEndEvents);
  trespass(Opcode::kWrite, Trespass::kUnknownStag);
  bool told = false;
  EXPECT_TRUE(until([&] {
    const auto event = world->server().wait_async_event(std::chrono::milliseconds(0));
    told = told || (event && event->kind == AsyncEvent::Kind::kQpAccessError &&
                    event->number == right.qp->number());
    return told;
  }));
}

class FaultContract : public Refused {};
IWARP_IN_EVERY_WORLD(FaultContract);

TEST_P(FaultContract, ASendLongerThanItsReceiveEndsIt) {
  const Sge gather = client.buffer(100).sge();
  const Buffer& sink = server.buffer(untouched);
  const Sge scatter = sink.sge(0, 99);
  post(right, RecvWr{1, {&scatter, 1}});
  post(left, send_of(2, {&gather, 1}));
  expect_ended();
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  ASSERT_EQ(server.received.size(), 1U);
  EXPECT_TRUE(server.received[0].status == Status::kLocalLengthError ||
              server.received[0].status == Status::kFlushed)
      << to_string(server.received[0].status);
  EXPECT_EQ(sink.content(99, 157), Bytes(untouched.begin() + 99, untouched.end()));
  EXPECT_TRUE(server.intact());
}

TEST_P(FaultContract, ASendWithoutAReceiveEndsIt) {
  post(left, send_of(1, {}));
  expect_ended();
}

TEST_P(FaultContract, AWriteToWhatASendInvalidatedEndsIt) {
  IWARP_NEEDS(Capability::kRemoteInvalidate);
  Buffer& there = server.buffer(untouched, kReachable | Access::kRemoteInvalidate);
  const Sge gather = client.buffer(untouched.size()).sge();
  post(right, RecvWr{1, {}});
  SendWr ending = send_of(2, {});
  ending.opcode = Opcode::kSendInvalidate;
  ending.invalidate_stag = there.key();
  EXPECT_EQ(run(left, ending).status, Status::kSuccess);
  ASSERT_TRUE(until([&] { return !server.received.empty(); }));
  EXPECT_EQ(server.received[0].status, Status::kSuccess);
  post(left, write_of(3, {&gather, 1}, there));
  expect_ended();
  EXPECT_EQ(there.content(), untouched);
}

TEST_P(FaultContract, TheInvalidationOfWhatThePeerMayNotEndsIt) {
  const Buffer& there = server.buffer(untouched, kReachable);
  post(right, RecvWr{1, {}});
  SendWr ending = send_of(2, {});
  ending.opcode = Opcode::kSendInvalidate;
  ending.invalidate_stag = there.key();
  post(left, ending);
  expect_ended();
}

TEST_P(FaultContract, AnElementBeyondItsRegionFails) {
  const Buffer& source = client.buffer(100);
  Sge beyond = source.sge();
  beyond.length = 101;
  post(right, RecvWr{1, {}});
  post(left, send_of(2, {&beyond, 1}));
  expect_ended();
  expect_last_failed();
}

TEST_P(FaultContract, AnElementOfAnotherDomainFails) {
  auto other_pd = world->client().alloc_pd().value();
  const Buffer foreign(other_pd, 100, kReachable);
  const Sge gather = foreign.sge();
  post(left, write_of(1, {&gather, 1}, server.buffer(100)));
  expect_ended();
  expect_last_failed();
}

TEST_P(FaultContract, ASinkWithoutLocalWriteFails) {
  const Buffer& source = server.buffer(untouched);
  const Buffer& sink = client.buffer(Bytes(untouched.size()), Access::kRemoteRead);
  const Sge scatter = sink.sge();
  post(left, read_of(1, {&scatter, 1}, source));
  expect_ended();
  expect_last_failed();
  EXPECT_EQ(sink.content(), Bytes(untouched.size()));
}

TEST_P(FaultContract, WhatIsBehindAFaultIsFlushed) {
  const Buffer& source = client.buffer(100);
  Sge beyond = source.sge();
  beyond.length = 101;
  const Buffer& target = server.buffer(untouched);
  const Sge good = source.sge();
  const SendWr requests[] = {write_of(1, {&beyond, 1}, target), write_of(2, {&good, 1}, target)};
  ASSERT_TRUE(left.qp->post_send(requests));
  expect_ended();
  ASSERT_TRUE(until([&] { return client.sent.size() == 2; }));
  EXPECT_NE(client.sent[0].status, Status::kSuccess);
  EXPECT_EQ(client.sent[1].status, Status::kFlushed);
  EXPECT_EQ(ids(client.sent), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(target.content(), untouched);
}

}  // namespace
}  // namespace iwarp::verbs::contract
