#include <gtest/gtest.h>

#include <new>

#include "connection/peer.hpp"

namespace iwarp::test {
namespace {

using namespace std::chrono_literals;
using connection::InboundEvents;
using connection::InboundStop;
using connection::Terms;
using connection::Time;
using ddp::Rights;
using rdmap::Operation;

// Two ends, of which one sends and the other one is looked at.
class Inbound : public testing::Test {
 protected:
  explicit Inbound(const Terms& terms = usual_terms()) : from(sender, terms), to(receiver, terms) {}

  // Sends `size` octets.
  void post_send(std::size_t size) {
    sender.post_inline(request_of(Operation::kSend), pattern(size));
  }
  void post_receive(std::uint64_t cookie) { receiver.receives.post(cookie, {inbox.sge(0, 64)}); }
  Octets send(std::size_t size) {
    post_send(size);
    return from.send();
  }
  // Takes two Sends in, of which the second finds no memory: its receive may be another queue's,
  // which has none to hand it out.
  void take_until_it_throws() {
    post_receive(1);
    post_receive(2);
    Octets octets = send(10);
    const Octets behind = send(10);
    octets.insert(octets.end(), behind.begin(), behind.end());
    receiver.receives.fail_from(1);
    EXPECT_THROW(to.core.inbound().take(octets, to.limits, to.events), std::bad_alloc);
  }
  [[nodiscard]] ConstBytes front(const Octets& octets, std::size_t size) const {
    return ConstBytes(octets).first(size);
  }

  Endpoint sender, receiver;
  Region& inbox = receiver.enable(64, Rights::kLocalWrite);
  Peer from, to;
};

TEST_F(Inbound, DeliversWholeMessagesAndKeepsTheBeginningOfTheNext) {
  post_receive(7);
  Octets octets = send(10);
  const std::size_t whole = octets.size();
  const Octets next = send(20);
  octets.insert(octets.end(), next.begin(), next.begin() + 5);
  EXPECT_EQ(to.receive(octets), InboundStop::kNeedsMore);
  ASSERT_EQ(to.deliveries.size(), 1U);
  EXPECT_EQ(to.deliveries[0].cookie, 7U);
  EXPECT_EQ(to.deliveries[0].length, 10U);
  EXPECT_EQ(to.core.inbound().kept(), 5U);
  EXPECT_EQ(to.core.inbound().counters().octets, whole + 5);
}

TEST_F(Inbound, TellsTheFirstFpduOnce) {
  post_receive(1);
  post_receive(2);
  const Octets octets = send(3);
  to.receive(front(octets, octets.size() - 1));
  EXPECT_FALSE(to.events.first) << "it is not whole";
  to.receive(ConstBytes(octets).last(1));
  EXPECT_TRUE(to.events.first);
  to.receive(send(3));
  EXPECT_FALSE(to.events.first);
}

// What trickles in gives a peer no more time.
TEST_F(Inbound, CountsTheTimeOfAHalfFpduFromItsFirstOctet) {
  EXPECT_FALSE(to.core.inbound().half_fpdu());
  post_receive(1);
  post_receive(2);
  Octets octets = send(30);
  to.limits.now = Time{10s};
  to.receive(front(octets, 3));
  to.limits.now = Time{11s};
  to.receive(ConstBytes(octets).subspan(3, 4));
  ASSERT_TRUE(to.core.inbound().half_fpdu());
  EXPECT_EQ(to.core.inbound().half_fpdu()->since, Time{10s});
  EXPECT_EQ(to.core.inbound().half_fpdu()->octets, 7U);
  to.limits.now = Time{12s};
  Octets rest(octets.begin() + 7, octets.end());
  const Octets next = send(30);
  rest.insert(rest.end(), next.begin(), next.begin() + 2);
  to.receive(rest);
  ASSERT_TRUE(to.core.inbound().half_fpdu());
  EXPECT_EQ(to.core.inbound().half_fpdu()->since, Time{12s}) << "another one has begun";
  to.receive(ConstBytes(next).subspan(2));
  EXPECT_FALSE(to.core.inbound().half_fpdu());
}

TEST_F(Inbound, StopsWhenTheRoomForEventsIsFull) {
  Octets octets;
  for (std::size_t i = 0; i < InboundEvents::kMostDeliveries + 1; ++i) {
    post_receive(i);
    const Octets one = send(1);
    octets.insert(octets.end(), one.begin(), one.end());
  }
  const auto first = to.core.inbound().take(octets, to.limits, to.events);
  EXPECT_EQ(first.why, InboundStop::kEventsFull);
  EXPECT_EQ(to.events.deliveries().size(), InboundEvents::kMostDeliveries);
  EXPECT_LT(first.octets, octets.size());
  to.events.clear();
  const auto rest = MutableBytes(octets).subspan(first.octets);
  const auto second = to.core.inbound().take(rest, to.limits, to.events);
  EXPECT_EQ(second.why, InboundStop::kNeedsMore);
  EXPECT_EQ(second.octets, rest.size());
  ASSERT_EQ(to.events.deliveries().size(), 1U);
  EXPECT_EQ(to.events.deliveries()[0].cookie, InboundEvents::kMostDeliveries);
}

// RFC 5041 §7.1: without a wait a message for which no receive is posted is a fault.
TEST_F(Inbound, FindsAFaultWhereNoReceiveIsPosted) {
  const auto why = to.receive(send(10));
  EXPECT_EQ(why, InboundStop::kEnded);
  ASSERT_TRUE(to.events.fault);
  EXPECT_EQ(to.events.fault->terminate.cause, rdmap::cause_of(ddp::Error::kNoBuffer));
}

TEST_F(Inbound, DeliversWhatCameBeforeAFaultAndDropsWhatComesBehind) {
  post_receive(1);
  post_receive(2);
  Octets octets = send(10);
  Octets bad = send(10);
  bad.back() ^= std::byte{1};
  octets.insert(octets.end(), bad.begin(), bad.end());
  const Octets behind = send(10);
  octets.insert(octets.end(), behind.begin(), behind.end());
  EXPECT_EQ(to.receive(octets), InboundStop::kEnded);
  EXPECT_EQ(to.deliveries.size(), 1U);
  ASSERT_TRUE(to.events.fault);
  EXPECT_EQ(to.events.fault->terminate.cause,
            rdmap::cause_of_llp(mpa::terminate_code(mpa::Error::kCrcMismatch)));
  EXPECT_TRUE(to.core.inbound().ended());
  EXPECT_EQ(to.core.inbound().kept(), 0U);
  EXPECT_EQ(to.core.inbound().counters().octets, octets.size());
  EXPECT_EQ(to.receive(send(10)), InboundStop::kEnded);
  EXPECT_FALSE(to.events.fault) << "there is one";
  EXPECT_EQ(to.deliveries.size(), 1U);
  EXPECT_EQ(receiver.receives.taken(), 1U);
}

// As of one that came here and was bad.
TEST_F(Inbound, EndsWithTheFaultOfAnFpduThatWasRefusedBelow) {
  post_receive(1);
  connection::InboundEvents events;
  to.core.inbound().refuse(mpa::Error::kMarkerMismatch, events);
  ASSERT_TRUE(events.fault);
  EXPECT_EQ(events.fault->terminate.cause,
            rdmap::cause_of_llp(mpa::terminate_code(mpa::Error::kMarkerMismatch)));
  EXPECT_TRUE(to.core.inbound().ended());
  EXPECT_EQ(to.receive(send(10)), InboundStop::kEnded);
  EXPECT_TRUE(to.deliveries.empty());
  events.clear();
  to.core.inbound().refuse(mpa::Error::kCrcMismatch, events);
  EXPECT_FALSE(events.fault) << "it has ended before";
}

TEST_F(Inbound, KeepsWhatWasDeliveredBeforeSomethingThrows) {
  take_until_it_throws();
  ASSERT_EQ(to.events.deliveries().size(), 1U);
  EXPECT_EQ(to.events.deliveries()[0].cookie, 1U);
  EXPECT_TRUE(to.events.first);
}

// A deregistration waits for memory that is held.
TEST_F(Inbound, HoldsNoMemoryOnceItHasTakenWhatThereIs) {
  post_receive(1);
  to.receive(send(10));
  ASSERT_EQ(to.deliveries.size(), 1U);
  receiver.stags.disable(inbox.stag);
  EXPECT_TRUE(receiver.stags.idle(inbox.stag));
}

TEST_F(Inbound, HoldsNoMemoryAfterSomethingHasThrown) {
  take_until_it_throws();
  receiver.stags.disable(inbox.stag);
  EXPECT_TRUE(receiver.stags.idle(inbox.stag));
}

// What is held is the buffer of an STag that has just ended: STag 0 names nothing.
TEST_F(Inbound, RefusesStagZeroBehindTheEndOfTheStagThatItHolds) {
  Region& target = receiver.enable(64, Rights::kRemoteWrite | Rights::kRemoteInvalidate);
  Region& source = sender.enable(64, Rights::kNone);
  source.memory.fill(std::byte{0xEE});
  post_receive(1);
  sender.post(request_of(Operation::kWrite, target.stag, target.to(0)), {source.sge(0, 8)});
  rdmap::Request end = request_of(Operation::kSendInvalidate);
  end.invalidate = target.stag;
  sender.post(end);
  sender.post(request_of(Operation::kWrite, Stag{0}, target.to(8)), {source.sge(0, 8)});
  to.receive(from.send());
  ASSERT_EQ(to.deliveries.size(), 1U);
  ASSERT_TRUE(to.events.fault);
  EXPECT_EQ(to.events.fault->terminate.cause, rdmap::cause_of(ddp::Error::kInvalidStag));
  EXPECT_EQ(target.part(7, 1)[0], std::byte{0xEE});
  EXPECT_NE(target.part(8, 1)[0], std::byte{0xEE});
}

TEST_F(Inbound, TellsWhichReadATerminateIsAbout) {
  Region& sink = sender.enable(16, Rights::kLocalWrite);
  Region& shut = receiver.enable(16, Rights::kNone);
  Region& open = receiver.enable(16, Rights::kRemoteRead);
  for (const Region* source : {&open, &shut, &open}) {
    sender.post(request_of(Operation::kRead, source->stag, source->to(0)), {sink.sge(0, 16)});
  }
  to.receive(from.send());
  ASSERT_TRUE(to.events.fault);
  from.receive(to.send());
  EXPECT_EQ(from.retired, 0U) << "retired by the sending half";
  from.retire();
  EXPECT_EQ(from.retired, 1U) << "the answer to the first had left before";
  to.core.outbound().terminate(to.events.fault->terminate);
  EXPECT_EQ(from.receive(to.send()), InboundStop::kEnded);
  ASSERT_TRUE(from.events.terminate);
  EXPECT_EQ(from.events.terminated_read, 1U);
}

TEST_F(Inbound, AsksTheOutboundHalfToAnswerAndToGoOn) {
  Region& sink = sender.enable(16, Rights::kLocalWrite);
  Region& source = receiver.enable(16, Rights::kRemoteRead);
  sender.post(request_of(Operation::kRead, source.stag, source.to(0)), {sink.sge(0, 16)});
  to.receive(from.send());
  EXPECT_TRUE(to.events.for_outbound) << "a response is owed";
  EXPECT_EQ(to.core.inbound().counters().peer_reads, 1U);
  from.receive(to.send());
  EXPECT_TRUE(from.events.for_outbound) << "another Read may leave";
  from.retire();
  EXPECT_EQ(from.retired, 1U);
}

TEST_F(Inbound, GivesTheReceiveOfAHalfMessageBackWhenItIsStopped) {
  post_receive(5);
  from.mulpdu = 128;
  Region& source = sender.enable(300, Rights::kNone);
  sender.post(request_of(Operation::kSend), {source.sge(0, 60), source.sge(60, 4)});
  sender.post(request_of(Operation::kSend), {source.sge(0, 300)});
  receiver.receives.post(6, {inbox.sge(0, 64), inbox.sge(0, 64), inbox.sge(0, 64), inbox.sge(0, 64),
                             inbox.sge(0, 64)});
  Octets octets = from.send();
  octets.resize(octets.size() - 4);
  to.receive(octets);
  ASSERT_EQ(to.deliveries.size(), 1U);
  EXPECT_NE(to.core.inbound().kept(), 0U);
  const auto open = to.core.inbound().stop();
  ASSERT_TRUE(open);
  EXPECT_EQ(open->cookie, 6U);
  EXPECT_FALSE(to.core.inbound().stop()) << "it is given back once";
  EXPECT_EQ(to.core.inbound().kept(), 0U);
  EXPECT_EQ(to.core.inbound().counters().octets, octets.size());
}

// ---- Messages that wait for a receive ----

class InboundWaits : public Inbound {
 protected:
  static Terms waiting_terms() {
    Terms terms = usual_terms();
    terms.receive_wait = 1s;
    return terms;
  }
  InboundWaits() : Inbound(waiting_terms()) { to.limits.now = Time{10s}; }
};

TEST_F(InboundWaits, LooksAtNothingBehindAMessageThatWaits) {
  Octets octets = send(10);
  const Octets behind = send(20);
  octets.insert(octets.end(), behind.begin(), behind.end());
  EXPECT_EQ(to.receive(octets), InboundStop::kAwaitsReceive);
  EXPECT_TRUE(to.core.inbound().awaits_receive());
  EXPECT_EQ(to.core.inbound().kept(), behind.size());
  EXPECT_FALSE(to.core.inbound().half_fpdu()) << "nobody waits for the rest of it";
  EXPECT_EQ(to.resume(), InboundStop::kAwaitsReceive);
  EXPECT_TRUE(to.deliveries.empty());
}

TEST_F(InboundWaits, GoesOnWithWhatIsKeptWhenAReceiveIsPosted) {
  Octets octets = send(10);
  for (const std::size_t size : {20U, 30U}) {
    const Octets next = send(size);
    octets.insert(octets.end(), next.begin(), next.end());
  }
  octets.resize(octets.size() - 2);
  to.receive(octets);
  post_receive(1);
  to.limits.now = Time{10s + 500ms};
  EXPECT_EQ(to.resume(), InboundStop::kAwaitsReceive) << "the second one waits";
  ASSERT_EQ(to.deliveries.size(), 1U);
  EXPECT_EQ(to.core.inbound().deadline(), Time{11s + 500ms}) << "each has its own time";
  post_receive(2);
  EXPECT_EQ(to.resume(), InboundStop::kNeedsMore);
  ASSERT_EQ(to.deliveries.size(), 2U);
  EXPECT_EQ(to.deliveries[1].length, 20U);
  EXPECT_FALSE(to.core.inbound().deadline());
  ASSERT_TRUE(to.core.inbound().half_fpdu()) << "of the third two octets are missing";
  EXPECT_EQ(to.core.inbound().half_fpdu()->since, to.limits.now);
}

// The thread that completes it may have to wait until nobody uses an STag that it has ended.
TEST_F(InboundWaits, HoldsNoMemoryOnceTheMessageHasItsReceive) {
  to.receive(send(10));
  post_receive(1);
  ASSERT_TRUE(to.core.inbound().offer_waiting(to.limits, to.events));
  receiver.stags.disable(inbox.stag);
  EXPECT_TRUE(receiver.stags.idle(inbox.stag));
}

TEST_F(InboundWaits, EndsWhenTheTimeIsOver) {
  to.receive(send(10));
  ASSERT_EQ(to.core.inbound().deadline(), Time{11s});
  to.limits.now = Time{11s} - 1ns;
  EXPECT_EQ(to.resume(), InboundStop::kAwaitsReceive);
  to.limits.now = Time{11s};
  EXPECT_EQ(to.resume(), InboundStop::kEnded);
  ASSERT_TRUE(to.events.fault);
  EXPECT_EQ(to.events.fault->terminate.cause, rdmap::cause_of(ddp::Error::kNoBuffer));
}

TEST_F(InboundWaits, TakesAReceiveThatIsPostedInTheLastMoment) {
  to.receive(send(10));
  to.limits.now = Time{20s};
  post_receive(1);
  EXPECT_EQ(to.resume(), InboundStop::kNeedsMore);
  EXPECT_EQ(to.deliveries.size(), 1U);
}

TEST_F(InboundWaits, IsNotAllowedToWaitWithoutRoom) {
  to.limits.may_wait = false;
  EXPECT_EQ(to.receive(send(10)), InboundStop::kEnded);
  EXPECT_TRUE(to.events.fault);
}

}  // namespace
}  // namespace iwarp::test
