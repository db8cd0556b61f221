#include <gtest/gtest.h>

#include <variant>

#include "connection/peer.hpp"

namespace iwarp::test {
namespace {

using connection::MayLeave;
using connection::Offer;
using connection::RequestFault;
using connection::ResponseFault;
using connection::Terms;
using ddp::Rights;
using rdmap::Operation;

// Two ends, of which one is looked at and the other one receives.
class Outbound : public testing::Test {
 protected:
  explicit Outbound(const Terms& terms = usual_terms()) : from(sender, terms), to(receiver, terms) {
    for (std::uint64_t i = 0; i < 8; ++i) receiver.receives.post(i, {inbox.sge(0, kSize)});
    const Ulpdu data = pattern(kSize);
    std::ranges::copy(data, source.memory.data());
  }

  void post_send(std::uint32_t size) {
    sender.post(request_of(Operation::kSend), {source.sge(0, size)});
  }
  Offer offer(MayLeave may_leave = MayLeave::kEverything) {
    return from.core.outbound().offer(from.batch, {.mulpdu = from.mulpdu, .may_leave = may_leave});
  }
  // What the next offer holds, none of which is accepted.
  Octets offered(MayLeave may_leave = MayLeave::kEverything) {
    const Octets octets = octets_of(offer(may_leave).pieces);
    EXPECT_FALSE(from.core.outbound().sent(from.batch, 0, from.released));
    return octets;
  }

  static constexpr std::uint32_t kSize = 5000;
  Endpoint sender, receiver;
  Region& source = sender.enable(kSize, Rights::kRemoteRead);
  Region& inbox = receiver.enable(kSize, Rights::kLocalWrite);
  Peer from, to;
};

TEST_F(Outbound, OffersWhatWasNotAcceptedAgain) {
  post_send(kSize);
  const Octets all = offered();
  ASSERT_GT(all.size(), kSize);
  Octets sent;
  // One octet, a whole FPDU's and more, then what is left of the cut one, which goes alone.
  for (const std::size_t accepted : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    const Octets part = from.send_part(accepted);
    sent.insert(sent.end(), part.begin(), part.end());
    const Octets next = offered();
    EXPECT_TRUE(std::equal(next.begin(), next.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(sent.size())));
  }
  EXPECT_EQ(from.core.outbound().rest().size(), offered().size());
  const Octets rest = from.send();
  sent.insert(sent.end(), rest.begin(), rest.end());
  EXPECT_EQ(sent, all);
  EXPECT_EQ(from.retired, 1U);
  to.receive(sent);
  ASSERT_EQ(to.deliveries.size(), 1U);
  EXPECT_EQ(to.deliveries[0].length, kSize);
}

// The CRC of a cut FPDU has been taken: what the program writes later is of no account.
TEST_F(Outbound, KeepsTheRestOfAnFpduThatWasCut) {
  post_send(500);
  Octets octets = from.send_part(100);
  source.memory.fill(std::byte{0xEE});
  const Octets rest = from.send();
  octets.insert(octets.end(), rest.begin(), rest.end());
  to.receive(octets);
  ASSERT_FALSE(to.events.fault);
  const Ulpdu data = pattern(500);
  EXPECT_TRUE(std::ranges::equal(inbox.part(0, 500), data));
}

TEST_F(Outbound, LetsNothingLeaveButTheRestWhenThatIsAllThatMayLeave) {
  post_send(500);
  EXPECT_TRUE(offered(MayLeave::kRestOnly).empty());
  from.send_part(100);
  EXPECT_FALSE(from.send(MayLeave::kRestOnly).empty());
  post_send(500);
  EXPECT_TRUE(from.send(MayLeave::kRestOnly).empty());
  EXPECT_FALSE(from.send().empty());
}

TEST_F(Outbound, SendsATerminateBehindTheFpduThatWasCutAndNothingElse) {
  post_send(500);
  post_send(500);
  from.mulpdu = 128;
  Octets octets = from.send_part(100);
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
  from.core.outbound().terminate(message);
  EXPECT_TRUE(from.core.outbound().terminating());
  EXPECT_FALSE(from.core.outbound().terminated());
  const Octets rest = from.send(MayLeave::kRestOnly);
  octets.insert(octets.end(), rest.begin(), rest.end());
  EXPECT_TRUE(from.core.outbound().terminated());
  EXPECT_TRUE(offered().empty());
  to.receive(octets);
  ASSERT_TRUE(to.events.terminate);
  EXPECT_EQ(to.events.terminate->cause, message.cause);
  EXPECT_TRUE(to.deliveries.empty());
}

TEST_F(Outbound, TellsARequestThatCannotBeReadWhenAllBeforeItHasLeft) {
  post_send(100);
  Region& gone = sender.enable(100, Rights::kNone);
  sender.post(request_of(Operation::kSend), {gone.sge(0, 100)});
  sender.stags.disable(gone.stag);
  const Offer first = offer();
  EXPECT_FALSE(first.pieces.empty());
  EXPECT_FALSE(first.fault);
  EXPECT_FALSE(
      from.core.outbound().sent(from.batch, from.batch.size(), from.released += from.batch.size()));
  for (int i = 0; i < 2; ++i) {
    const Offer second = offer();
    EXPECT_TRUE(second.pieces.empty());
    ASSERT_TRUE(second.fault);
    const auto* fault = std::get_if<RequestFault>(&*second.fault);
    ASSERT_NE(fault, nullptr);
    EXPECT_EQ(fault->what, RequestFault::What::kNoAccess);
    EXPECT_EQ(fault->position, 1U);
  }
  from.retire();
  EXPECT_EQ(from.retired, 1U);
  EXPECT_FALSE(from.core.outbound().has_left(1));
}

// Octets that can be read leave in front of those that cannot, an FPDU at least.
TEST_F(Outbound, SendsWhatLiesInFrontOfAnElementThatCannotBeRead) {
  Region& gone = sender.enable(400, Rights::kNone);
  sender.post(request_of(Operation::kSend), {source.sge(0, 700), gone.sge(0, 400)});
  sender.stags.disable(gone.stag);
  from.mulpdu = 200 + ddp::kUntaggedHeaderSize;
  std::size_t fpdus = 0;
  for (;; ++fpdus) {
    const Offer next = offer();
    if (next.fault) {
      EXPECT_EQ(std::get<RequestFault>(*next.fault).what, RequestFault::What::kNoAccess);
      break;
    }
    ASSERT_FALSE(next.pieces.empty());
    from.released += from.batch.size();
    EXPECT_FALSE(from.core.outbound().sent(from.batch, from.batch.size(), from.released));
  }
  EXPECT_EQ(from.core.outbound().counters().fpdus, 3U);
}

TEST_F(Outbound, RefusesARequestThatWasNotAgreedOn) {
  post_send(100);
  post_send(100);
  from.core.outbound().refuse_at(1);
  from.send();
  const Offer refused = offer();
  ASSERT_TRUE(refused.fault);
  EXPECT_EQ(std::get<RequestFault>(*refused.fault).what, RequestFault::What::kNotAgreed);
  EXPECT_EQ(std::get<RequestFault>(*refused.fault).position, 1U);
}

// RFC 5040 §4.8: with the Read Request Header as far as it is unanswered.
TEST_F(Outbound, TellsThePeerFromWhereOnItsReadIsRefused) {
  Region& sink = receiver.enable(2000, Rights::kLocalWrite);
  receiver.post(request_of(Operation::kRead, source.stag, source.to(0)), {sink.sge(0, 2000)});
  from.receive(to.send());
  const std::size_t one_segment = from.mulpdu - ddp::kTaggedHeaderSize;
  from.send_part(200);  // the first segment has begun to leave
  sender.stags.disable(source.stag);
  from.send();
  const Offer refused = offer();
  ASSERT_TRUE(refused.fault);
  const auto* fault = std::get_if<ResponseFault>(&*refused.fault);
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->terminate.cause,
            rdmap::cause_of(rdmap::protection_error(ddp::Error::kInvalidStag)));
  ASSERT_TRUE(fault->terminate.read_request);
  EXPECT_EQ(fault->terminate.read_request->size, 2000 - one_segment);
  EXPECT_EQ(fault->terminate.read_request->source_to, source.to(one_segment));
  from.core.outbound().terminate(fault->terminate);
  to.receive(from.send());
  EXPECT_EQ(to.events.terminated_read, 0U);
}

TEST_F(Outbound, IsDoneWithARequestWhenTheStreamHasReleasedIt) {
  post_send(500);
  from.send_part(300, false);
  const Octets rest = octets_of(offer().pieces);
  EXPECT_FALSE(from.core.outbound().sent(from.batch, rest.size(), 0));
  const std::uint64_t all = from.core.outbound().accepted();
  EXPECT_TRUE(from.core.outbound().has_left(0));
  EXPECT_EQ(from.core.outbound().count_done(all - 1), 0U);
  EXPECT_EQ(from.core.outbound().count_done(all), 1U);
  EXPECT_EQ(from.core.outbound().count_done(all), 1U) << "not retired yet";
  EXPECT_EQ(from.core.outbound().counters().sends, 1U);
}

TEST_F(Outbound, CountsNoRequestThatWasFlushed) {
  post_send(500);
  post_send(500);
  from.core.outbound().sent(from.batch, octets_of(offer().pieces).size(), 0);
  sender.requests.retire();  // flushed
  EXPECT_EQ(from.core.outbound().count_done(from.core.outbound().accepted()), 1U);
  EXPECT_EQ(from.core.outbound().counters().sends, 1U);
}

TEST_F(Outbound, IsDoneWithAReadWhenItsResponseHasCome) {
  Region& sink = sender.enable(64, Rights::kLocalWrite);
  Region& there = receiver.enable(64, Rights::kRemoteRead);
  sender.post(request_of(Operation::kRead, there.stag, there.to(0)), {sink.sge(0, 64)});
  to.receive(from.send());
  EXPECT_EQ(from.retired, 0U);
  from.receive(to.send());
  from.retire();
  EXPECT_EQ(from.retired, 1U);
  EXPECT_EQ(from.core.outbound().counters().reads, 1U);
}

TEST_F(Outbound, DoesWorkThatSendsNothingInItsTurn) {
  post_send(500);
  sender.post(request_of(Operation::kLocal));
  post_send(500);
  EXPECT_FALSE(from.core.outbound().local_due());
  const Octets first = from.send();
  ASSERT_TRUE(from.core.outbound().local_due());
  EXPECT_EQ(from.core.outbound().next_request(), 1U);
  from.core.outbound().skip_local();
  from.retire();
  EXPECT_EQ(from.retired, 2U);
  EXPECT_EQ(from.send().size(), first.size());
}

TEST_F(Outbound, CountsWhatEachRequestIs) {
  Region& there = receiver.enable(64, Rights::kRemoteWrite);
  post_send(10);
  sender.post(request_of(Operation::kWriteImmediate, there.stag, there.to(0)), {source.sge(0, 10)});
  sender.post(request_of(Operation::kImmediate));
  from.send();
  const auto& counters = from.core.outbound().counters();
  EXPECT_EQ(counters.sends, 1U);
  EXPECT_EQ(counters.writes, 1U);
  EXPECT_EQ(counters.immediates, 2U);
  EXPECT_EQ(counters.fpdus, 4U);
  EXPECT_EQ(counters.octets, from.released);
}

// ---- How much one offer holds ----

class OutboundOffers : public Outbound {
 protected:
  // FPDUs of 500 octets, and the last of 2000 octets is shorter.
  OutboundOffers() { from.mulpdu = 494; }

  std::size_t offered_up_to(std::size_t octets) {
    const auto& pieces =
        from.core.outbound().offer(from.batch, {.mulpdu = from.mulpdu, .quantum = octets}).pieces;
    const std::size_t size = octets_of(pieces).size();
    EXPECT_FALSE(from.core.outbound().sent(from.batch, 0, from.released));
    return size;
  }
};

TEST_F(OutboundOffers, EndWithTheLastFpduThatFits) {
  post_send(2000);
  const std::size_t all = offered().size();
  ASSERT_GT(all, 2000U);
  ASSERT_LT(all, 2500U);
  EXPECT_EQ(offered_up_to(1499), 1000U);
  EXPECT_EQ(offered_up_to(1500), 1500U);
  EXPECT_EQ(offered_up_to(1999), 1500U);
  EXPECT_EQ(offered_up_to(all - 1), 2000U);
  EXPECT_EQ(offered_up_to(all), all);
  EXPECT_EQ(offered_up_to(65536), all);
}

TEST_F(OutboundOffers, BeginNoFpduBehindTheirOctets) {
  post_send(2000);
  const auto offered_from = [&](std::size_t octets) {
    const auto& pieces =
        from.core.outbound().offer(from.batch, {.mulpdu = from.mulpdu, .octets = octets}).pieces;
    const std::size_t size = octets_of(pieces).size();
    EXPECT_FALSE(from.core.outbound().sent(from.batch, 0, from.released));
    return size;
  };
  EXPECT_EQ(offered_from(1), 500U);
  EXPECT_EQ(offered_from(500), 500U);
  EXPECT_EQ(offered_from(501), 1000U);
  EXPECT_EQ(offered_from(1000), 1000U);
  EXPECT_EQ(offered_from(1001), 1500U);
}

TEST_F(OutboundOffers, HoldAnFpduThatIsLongerThanAllowedAlone) {
  post_send(2000);
  EXPECT_EQ(offered_up_to(1), 500U);
  EXPECT_EQ(offered_up_to(499), 500U);
}

// What did not fit is planned anew, as if nobody had looked at it.
TEST_F(OutboundOffers, OfAnySizeMakeTheSameStream) {
  for (std::uint32_t i = 0; i < 4; ++i) post_send(100 + 300 * i);
  const Octets all = offered();
  Octets octets;
  for (std::size_t most = 1; octets.size() < all.size(); most = most * 2 + 100) {
    const auto pieces =
        from.core.outbound().offer(from.batch, {.mulpdu = from.mulpdu, .quantum = most}).pieces;
    const Octets some = octets_of(pieces);
    ASSERT_FALSE(some.empty());
    octets.insert(octets.end(), some.begin(), some.end());
    EXPECT_FALSE(from.core.outbound().sent(from.batch, some.size(), octets.size()));
  }
  EXPECT_EQ(octets, all);
}

// ---- Streams that read what they have accepted later ----

class OutboundLends : public Outbound {
 protected:
  static Terms lending_terms() {
    Terms terms = usual_terms();
    terms.source = connection::SourceMemory::kStable;
    return terms;
  }
  OutboundLends() : Outbound(lending_terms()) { from.mulpdu = 4000; }
};

// Its memory stays registered meanwhile; a thread that waits for copies does not wait for a peer.
TEST_F(OutboundLends, HoldsMemoryUntilTheStreamHasReleasedIt) {
  post_send(3000);
  const Octets sent = octets_of(offer().pieces);
  EXPECT_FALSE(from.core.outbound().sent(from.batch, sent.size(), 0));
  sender.stags.disable(source.stag);
  EXPECT_FALSE(sender.stags.idle(source.stag));
  EXPECT_TRUE(sender.stags.quiet(source.stag));
  from.core.outbound().released(sent.size() - 1);
  EXPECT_FALSE(sender.stags.idle(source.stag));
  from.core.outbound().released(sent.size());
  EXPECT_TRUE(sender.stags.idle(source.stag));
}

TEST_F(OutboundLends, LetsMemoryGoThatWasOfferedInVain) {
  post_send(3000);
  EXPECT_FALSE(offered().empty());
  sender.stags.disable(source.stag);
  EXPECT_TRUE(sender.stags.idle(source.stag));
}

TEST_F(OutboundLends, ReferencesALongPayloadUnlessItIsToCopyAll) {
  post_send(3000);
  const auto refers = [&] {
    const Offer one = offer();
    EXPECT_FALSE(one.pieces.empty());
    const bool found = std::ranges::any_of(
        one.pieces, [&](const iovec& piece) { return piece.iov_base == source.memory.data(); });
    EXPECT_FALSE(from.core.outbound().sent(from.batch, 0, from.released));
    return found;
  };
  EXPECT_TRUE(refers());
  from.core.outbound().copy_all(true);
  EXPECT_FALSE(refers());
  from.core.outbound().copy_all(false);
  EXPECT_TRUE(refers());
}

}  // namespace
}  // namespace iwarp::test
