#include <gtest/gtest.h>

#include <memory>

#include "connection/peer.hpp"
#include "iwarp/mpa/mulpdu.hpp"

// Short messages that are framed in a row: the stream is the one that they make one by one,
// wherever TCP cuts it, and whatever keeps a row from going on.
namespace iwarp::test {
namespace {

using connection::Offer;
using connection::RequestFault;
using ddp::Rights;
using rdmap::Operation;

constexpr std::uint32_t kRoom = 4096;

// A request; `pieces` 0: its payload is inline.
struct Posted {
  Operation operation = Operation::kWrite;
  std::uint32_t length = 0;
  std::uint32_t pieces = 1;
  rdmap::Fence fence = rdmap::Fence::kNo;
};
using Script = std::vector<Posted>;

// Two ends, of which the first has all of a script to send.
class MessageWorld {
 public:
  explicit MessageWorld(const Script& script, mpa::Markers markers = mpa::Markers::kOff)
      : from(sender, usual_terms(markers)), to(receiver, usual_terms(markers)) {
    from.mulpdu = to.mulpdu = mpa::mulpdu(400, markers);
    std::ranges::copy(pattern(kRoom), source.memory.data());
    for (std::uint32_t i = 0; i < script.size(); ++i) post(script[i], i);
  }

  void post(const Posted& posted, std::uint32_t number) {
    rdmap::Request request =
        request_of(posted.operation, inbox.stag, inbox.to(std::uint64_t{64} * number));
    request.cookie = number;
    request.fence = posted.fence;
    const std::uint64_t at = std::uint64_t{3} * number;
    if (posted.operation == Operation::kRead) {
      request.remote_stag = target.stag;
      request.remote_to = target.to(at);
    }
    if (posted.operation != Operation::kWrite && posted.operation != Operation::kRead) {
      receiver.receives.post(number, {inbox.sge(std::uint64_t{64} * number, kRoom / 2)});
    }
    if (posted.pieces == 0) {
      sender.post_inline(request, pattern(posted.length));
    } else if (posted.pieces == 1) {
      sender.post(request, {source.sge(at, posted.length)});
    } else {
      sender.post(request, {source.sge(at, 1), source.sge(at + 1, posted.length - 1)});
    }
  }
  // As Peer::send_within(), in offers of up to `most` octets.
  Octets send(std::size_t accepted = SIZE_MAX, std::size_t most = 65536) {
    return from.send_within({.mulpdu = from.mulpdu, .octets = most}, accepted);
  }
  Octets send_all(std::size_t most = 65536) {
    return from.send_all_within({.mulpdu = from.mulpdu, .octets = most});
  }

  Endpoint sender{{.depth = 2048}}, receiver;
  Region& source = sender.enable(kRoom, Rights::kLocalWrite);
  Region& inbox = receiver.enable(2 * kRoom, Rights::kLocalWrite | Rights::kRemoteWrite);
  Region& target = receiver.enable(kRoom, Rights::kRemoteRead);
  Peer from, to;
};

Script row(Operation operation, std::uint32_t length, std::uint32_t pieces, std::size_t count) {
  return {count, {operation, length, pieces}};
}

// All that a row is made of, and all that ends one.
Script mixture() {
  Script script;
  const auto add = [&script](const Script& more) {
    script.insert(script.end(), more.begin(), more.end());
  };
  add(row(Operation::kWrite, 60, 1, 4));
  add(row(Operation::kWrite, 61, 1, 2));  // another length
  add(row(Operation::kWrite, 61, 2, 2));  // in two pieces
  add(row(Operation::kWrite, 61, 1, 2));
  add(row(Operation::kWrite, 61, 0, 3));  // inline
  add(row(Operation::kSend, 61, 1, 3));
  add(row(Operation::kSendSolicited, 61, 1, 3));
  add(row(Operation::kSend, 0, 1, 2));    // empty
  add(row(Operation::kSend, 700, 1, 2));  // two FPDUs each
  add({{Operation::kRead, 8, 1}});
  add({{Operation::kWrite, 60, 1}, {Operation::kWrite, 60, 1, rdmap::Fence::kYes}});
  add(row(Operation::kWrite, 60, 1, 2));
  return script;
}

class OutboundMessages : public testing::TestWithParam<mpa::Markers> {};

TEST_P(OutboundMessages, MakeTheStreamThatTheyMakeOneByOne) {
  MessageWorld rows(mixture(), GetParam());
  MessageWorld singly(mixture(), GetParam());
  Octets octets = rows.send_all();
  EXPECT_EQ(singly.send_all(1), octets);
  EXPECT_EQ(rows.from.core.outbound().counters().fpdus,
            singly.from.core.outbound().counters().fpdus);
  // Up to the fence; then the response comes.
  rows.to.receive(octets);
  ASSERT_FALSE(rows.to.events.fault);
  rows.from.receive(rows.to.send());
  singly.to.receive(octets);
  singly.from.receive(singly.to.send());
  octets = rows.send_all();
  EXPECT_FALSE(octets.empty());
  EXPECT_EQ(singly.send_all(1), octets);
  rows.to.receive(octets);
  EXPECT_FALSE(rows.to.events.fault);
  EXPECT_EQ(rows.from.retired, mixture().size());
  EXPECT_EQ(singly.from.retired, mixture().size());
  ASSERT_EQ(rows.to.deliveries.size(), 10U);
  EXPECT_TRUE(std::ranges::equal(rows.inbox.part(64, 60), rows.source.part(3, 60)));
}

// Each request is done when its own last octet has been accepted, and not before.
TEST_P(OutboundMessages, GoOnWhereTcpHasCutThem) {
  for (const Operation operation : {Operation::kWrite, Operation::kSend}) {
    const Script script = row(operation, 21, 1, 5);
    const Octets all = MessageWorld(script, GetParam()).send_all();
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
      SCOPED_TRACE(cut);
      MessageWorld world(script, GetParam());
      Octets octets = world.send(cut);
      const std::uint64_t done = world.from.retired;
      const Octets more = world.send_all();
      octets.insert(octets.end(), more.begin(), more.end());
      ASSERT_EQ(octets, all);
      EXPECT_EQ(world.from.core.outbound().counters().fpdus, 5U);
      EXPECT_EQ(world.from.retired, 5U);
      MessageWorld singly(script, GetParam());
      std::size_t whole = 0;  // octets of the messages before the cut
      std::uint64_t count = 0;
      for (Octets one = singly.send(SIZE_MAX, 1); !one.empty(); one = singly.send(SIZE_MAX, 1)) {
        whole += one.size();
        if (whole <= cut) ++count;
      }
      EXPECT_EQ(done, count);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutMarkers, OutboundMessages,
                         testing::Values(mpa::Markers::kOff, mpa::Markers::kOn));

TEST(OutboundMessagesInARow, AreOneRunWithOnePin) {
  for (const std::uint32_t pieces : {0U, 1U}) {
    for (const Operation operation : {Operation::kWrite, Operation::kSend}) {
      MessageWorld world(row(operation, 60, pieces, 40));
      const auto& batch = world.from.batch;
      const Offer offer =
          world.from.core.outbound().offer(world.from.batch, {.mulpdu = world.from.mulpdu});
      EXPECT_TRUE(offer.all);
      EXPECT_EQ(batch.fpdus(), 40U);
      EXPECT_EQ(batch.runs(), 1U);
      EXPECT_EQ(batch.pins(), pieces);
      EXPECT_EQ(offer.pieces.size(), 1U);
      EXPECT_FALSE(world.from.core.outbound().sent(world.from.batch, 0, world.from.released));
    }
  }
}

TEST(OutboundMessagesInARow, StayWithinTheQuantum) {
  MessageWorld world(row(Operation::kWrite, 60, 1, 40));
  const Offer offer = world.from.core.outbound().offer(
      world.from.batch, {.mulpdu = world.from.mulpdu, .quantum = 1000});
  EXPECT_FALSE(offer.all);
  EXPECT_EQ(world.from.batch.fpdus(), 12U);  // of 80 octets
  EXPECT_EQ(world.from.batch.size(), 960U);
  EXPECT_FALSE(world.from.core.outbound().sent(world.from.batch, 960, 960));
}

TEST(OutboundMessagesInARow, FillABatch) {
  MessageWorld world({});
  for (std::uint32_t i = 0; i < 1500; ++i) world.post({Operation::kWrite, 4, 0}, i % 64);
  const Offer offer =
      world.from.core.outbound().offer(world.from.batch, {.mulpdu = world.from.mulpdu});
  EXPECT_FALSE(offer.all);
  EXPECT_EQ(world.from.batch.fpdus(), connection::Batch::kMostFpdus);
  EXPECT_EQ(world.from.batch.runs(), 1U);
  EXPECT_FALSE(world.from.core.outbound().sent(world.from.batch, 0, world.from.released));
  EXPECT_EQ(world.send_all().size(), 1500U * 24U);
  EXPECT_EQ(world.from.retired, 1500U);
}

// A device that does not copy reads on.
TEST(OutboundMessagesInARow, AreDoneAsTheStreamReleasesThem) {
  MessageWorld world(row(Operation::kWrite, 60, 1, 5));
  connection::Outbound& outbound = world.from.core.outbound();
  EXPECT_TRUE(outbound.offer(world.from.batch, {.mulpdu = world.from.mulpdu}).all);
  EXPECT_EQ(world.from.batch.size(), 400U);
  EXPECT_FALSE(outbound.sent(world.from.batch, 300, 0));
  for (std::uint64_t released = 0; released <= 240; released += 40) {
    world.from.released = released;
    world.from.retire();
    EXPECT_EQ(world.from.retired, released / 80);
  }
  EXPECT_EQ(outbound.rest().size(), 20U);
  EXPECT_FALSE(world.sender.stags.idle(world.source.stag));
}

TEST(OutboundMessagesInARow, AreFollowedByATerminateAndNothingElse) {
  MessageWorld world(row(Operation::kSend, 60, 1, 5));
  Octets octets = world.send(100);
  rdmap::Terminate message;
  message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
  world.from.core.outbound().terminate(message);
  const Octets more = world.send_all();
  octets.insert(octets.end(), more.begin(), more.end());
  world.to.receive(octets);
  ASSERT_TRUE(world.to.events.terminate);
  EXPECT_EQ(world.to.events.terminate->cause, message.cause);
  EXPECT_EQ(world.to.deliveries.size(), 2U);
}

// What comes before it leaves, and it is named.
TEST(OutboundMessagesInARow, EndInFrontOfOneThatMayNotBeRead) {
  MessageWorld world(row(Operation::kWrite, 60, 1, 3));
  rdmap::Request request = request_of(Operation::kWrite, world.inbox.stag, world.inbox.to(0));
  world.sender.post(request, {{world.source.base.value(), 60, Stag{0x12345678}}});
  world.post({Operation::kWrite, 60, 1}, 4);
  EXPECT_EQ(world.send().size(), 3U * 80U);
  EXPECT_FALSE(world.from.fault);
  EXPECT_TRUE(world.send().empty());
  ASSERT_TRUE(world.from.fault);
  const auto* named = std::get_if<RequestFault>(&*world.from.fault);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->position, 3U);
  EXPECT_EQ(named->what, RequestFault::What::kNoAccess);
}

TEST(OutboundMessagesInARow, EndInFrontOfOneThatIsRefused) {
  for (std::uint32_t refused = 0; refused < 4; ++refused) {
    MessageWorld world(row(Operation::kSend, 60, 1, 4));
    world.from.core.outbound().refuse_at(refused);
    const Octets octets = world.send_all();
    EXPECT_EQ(world.from.retired, refused);
    ASSERT_TRUE(world.from.fault);
    EXPECT_EQ(std::get<RequestFault>(*world.from.fault).position, refused);
    EXPECT_EQ(std::get<RequestFault>(*world.from.fault).what, RequestFault::What::kNotAgreed);
  }
}

// Responses and requests take turns.
TEST(OutboundMessagesInARow, LetAResponseThrough) {
  MessageWorld world(row(Operation::kWrite, 60, 1, 4));
  Region& asked = world.sender.enable(64, Rights::kRemoteRead, kPd, 0x1000);
  world.receiver.post(request_of(Operation::kRead, asked.stag, asked.to(0)),
                      {world.inbox.sge(kRoom, 8)});
  world.from.receive(world.to.send());
  const Octets octets = world.send_all();
  const std::size_t response = 2 + 14 + 8 + 4;
  ASSERT_EQ(octets.size(), 4U * 80U + response);
  EXPECT_EQ(load_be<std::uint16_t>(octets.data()), 14U + 60U);
  EXPECT_EQ(load_be<std::uint16_t>(octets.data() + 80), 14U + 8U);
  world.to.receive(octets);
  EXPECT_FALSE(world.to.events.fault);
}

}  // namespace
}  // namespace iwarp::test
