#include <cstring>

#include "agent_support.hpp"

/// The agent accepts a connection: everything that it reports and does, over the tester's own wire.
namespace iwarp::conform {
namespace {

constexpr std::uint64_t kFill = 0x5A5A5A5A5A5A5A5A;

class AgentResponder : public AgentTest {
 protected:
  /// The 8 octets of the region at `offset`, in this machine's order, which is the agent's.
  std::uint64_t word_at(const Region& region, std::size_t offset) {
    std::uint64_t word = 0;
    const Octets data = agent_.fetch(region, offset, sizeof word);
    std::memcpy(&word, data.data(), sizeof word);
    return word;
  }
};

TEST_F(AgentResponder, TellsWhoAsksToConnect) {
  StartupFrame request = context_.request();
  request.private_data = {1, 2, 3};
  request.enhanced->ird = 5;
  request.enhanced->ord = 7;
  context_.listen();
  Stream stream = context_.dial();
  stream.send(request);
  const Answer asked = agent_.call("await ms=5000", kPatience);
  EXPECT_EQ(asked.octets("private"), request.private_data);
  EXPECT_EQ(asked.number("ird"), 5U);
  EXPECT_EQ(asked.number("ord"), 7U);
}

// An IRD below the ORD of the Request would be raised to it (RFC 6581 section 9.1).
TEST_F(AgentResponder, AcceptsAsItIsTold) {
  StartupFrame request = context_.request();
  request.enhanced->ord = 1;
  const Link link = context_.link({.request = request, .accept = "private=c0ffee ird=3 ord=4"});
  EXPECT_EQ(link.reply.private_data, (Octets{0xC0, 0xFF, 0xEE}));
  EXPECT_EQ(link.reply.enhanced->ird, 3);
  EXPECT_EQ(link.reply.enhanced->ord, 4);
}

TEST_F(AgentResponder, AcceptsAsTheListenerIsTold) {
  StartupFrame request = context_.request();
  request.flags &= static_cast<std::uint8_t>(~kFlagCrc);
  request.enhanced->ord = 1;
  const Link plain = context_.link({.request = request, .listen = "ird=2 ord=1 crc=0 markers=0"});
  EXPECT_FALSE(plain.reply.crc());
  EXPECT_FALSE(plain.reply.markers());
  EXPECT_EQ(plain.reply.enhanced->ird, 2);
  EXPECT_EQ(plain.reply.enhanced->ord, 1);
  const Link marked = context_.link({.request = request, .listen = "crc=1 markers=1"});
  EXPECT_TRUE(marked.reply.crc());
  EXPECT_TRUE(marked.reply.markers());
}

TEST_F(AgentResponder, Rejects) {
  context_.listen();
  Stream stream = context_.dial();
  stream.send(context_.request());
  context_.await_endpoint().reject(Octets{9, 8});
  const StartupFrame reply = stream.expect_reply();
  EXPECT_TRUE(reply.rejected());
  EXPECT_EQ(reply.private_data, (Octets{9, 8}));
}

TEST_F(AgentResponder, TellsEventsInOrder) {
  Link link = context_.link();
  link.stream.write(0, 0, {});
  Answer established;
  EXPECT_EQ(link.agent_end().event(kPatience, &established), "established");
  EXPECT_EQ(established.number("ird"), 16U);
  link.stream.shut_down_sending();
  EXPECT_EQ(link.agent_end().event(kPatience), "disconnected");
  EXPECT_EQ(link.agent_end().event(milliseconds(20)), "none");
}

TEST_F(AgentResponder, Disconnects) {
  Link link = open_link();
  link.agent_end().disconnect();
  link.stream.expect_end();
}

TEST_F(AgentResponder, CloseEndsTheConnection) {
  Link link = open_link();
  link.agent_end().close();
  link.stream.expect_end();
}

TEST_F(AgentResponder, ReceivesASendIntoAPostedBuffer) {
  const Region region = agent_.region(256, "local_write", 0x5A);
  Link link = open_link([&](Endpoint& endpoint) { endpoint.receive(77, region, 16, 100); });
  const Octets message = pattern(60);
  link.stream.send_message(message, kSendSolicited);
  const Completion got = completion_of(link.agent_end());
  EXPECT_EQ(got.id, 77U);
  EXPECT_EQ(got.status, "success");
  EXPECT_EQ(got.op, "receive");
  EXPECT_EQ(got.length, message.size());
  EXPECT_TRUE(got.solicited);
  EXPECT_EQ(agent_.fetch(region, 16, 60), message);
  EXPECT_EQ(agent_.fetch(region, 0, 16), Octets(16, 0x5A));
  EXPECT_EQ(agent_.fetch(region, 76, 180), Octets(180, 0x5A));
}

TEST_F(AgentResponder, ReportsFlushedReceives) {
  const Region region = agent_.region(8, "local_write");
  Link link = open_link([&](Endpoint& endpoint) { endpoint.receive(5, region, 0, 8); });
  link.stream.reset();
  const Completion got = completion_of(link.agent_end());
  EXPECT_EQ(got.id, 5U);
  EXPECT_EQ(got.status, "flushed");
  EXPECT_EQ(got.op, "receive");
}

TEST_F(AgentResponder, IsWrittenTo) {
  const Region region = agent_.region(64, "local_write,remote_write");
  Link link = open_link([&](Endpoint& endpoint) { endpoint.receive(1, region, 0, 0); });
  link.stream.write(region.stag, region.address + 8, pattern(16));
  link.stream.send_message({});  // placed before this is delivered
  EXPECT_EQ(completion_of(link.agent_end()).length, 0U);
  EXPECT_EQ(agent_.fetch(region, 8, 16), pattern(16));
}

TEST_F(AgentResponder, IsReadFrom) {
  const Region region = agent_.region(64, "remote_read");
  agent_.store(region, 10, pattern(20));
  Link link = open_link();
  link.stream.send_read_request({.sink_stag = 0x1234,
                                 .sink_to = 0x500,
                                 .size = 20,
                                 .source_stag = region.stag,
                                 .source_to = region.address + 10});
  const Segment response = link.stream.expect_segment_of(kReadResponse);
  EXPECT_EQ(response.stag, 0x1234U);
  EXPECT_EQ(response.to, 0x500U);
  EXPECT_EQ(response.payload, pattern(20));
}

TEST_F(AgentResponder, PerformsAnAtomicOfThePeer) {
  const Region region = agent_.region(64, "local_write,remote_atomic", 0x5A);
  Link link = open_link();
  link.stream.send_atomic_request({.operation = kFetchAdd,
                                   .id = 0xABCD,
                                   .stag = region.stag,
                                   .to = region.address + 8,
                                   .data = 6});
  const Segment response = link.stream.expect_segment_of(kAtomicResponse);
  const auto atomic = parse_atomic_response(response.payload);
  ASSERT_TRUE(atomic.has_value());
  EXPECT_EQ(atomic->id, 0xABCDU);
  EXPECT_EQ(atomic->original, kFill);
  EXPECT_EQ(word_at(region, 8), kFill + 6);
}

TEST_F(AgentResponder, OpensAWindowThatASendInvalidates) {
  const Region region = agent_.region(64, "local_write");
  const Region receives = agent_.region(64, "local_write");
  Link link = open_link([&](Endpoint& endpoint) {
    endpoint.receive(1, receives, 0, 8);
    endpoint.receive(2, receives, 8, 8);
  });
  Endpoint& endpoint = link.agent_end();
  link.stream.send_message(pattern(4));  // its completion comes before that of the binding
  const std::uint32_t window = endpoint.window(region, 16, 8, "remote_write");
  EXPECT_NE(window, region.stag);
  link.stream.write(window, region.address + 16, pattern(8));
  link.stream.send_message({}, kSendInvalidate, window);
  EXPECT_EQ(completion_of(endpoint).id, 1U);
  const Completion got = completion_of(endpoint);
  EXPECT_EQ(got.id, 2U);
  EXPECT_EQ(got.invalidated, window);
  EXPECT_EQ(agent_.fetch(region, 16, 8), pattern(8));
  link.stream.write(window, region.address + 16, Octets(8, 0));
  link.stream.expect_terminate(Cause{kLayerDdp, 1, 0x00});
  EXPECT_EQ(agent_.fetch(region, 16, 8), pattern(8));
}

TEST_F(AgentResponder, RefusesAWindowOnARegionThatMayNotBeWritten) {
  const Region region = agent_.region(64, "none");
  Link link = open_link();
  try {
    link.agent_end().window(region, 0, 64, "remote_write");
    ADD_FAILURE() << "it was bound";
  } catch (const AgentError& error) {
    EXPECT_EQ(error.code, "EACCES");
  }
}

TEST_F(AgentResponder, ReportsWhichRegionASendInvalidated) {
  const Region region = agent_.region(8, "local_write,remote_write,remote_invalidate");
  Link link = open_link([&](Endpoint& endpoint) { endpoint.receive(1, region, 0, 0); });
  link.stream.send_message({}, kSendInvalidate, region.stag);
  EXPECT_EQ(completion_of(link.agent_end()).invalidated, region.stag);
  agent_.deregister(region);
}

TEST_F(AgentResponder, ReportsImmediateData) {
  const Region region = agent_.region(8, "local_write");
  Link link = open_link([&](Endpoint& endpoint) { endpoint.receive(3, region, 0, 8); });
  const Octets data = pattern(8);
  link.stream.send(
      untagged_segment(kImmediateSolicited, kSendQueue, link.stream.next_msn(kSendQueue), 0, data));
  const Completion got = completion_of(link.agent_end());
  EXPECT_EQ(got.op, "receive_imm");
  EXPECT_EQ(got.immediate, data);
  EXPECT_TRUE(got.solicited);
}

}  // namespace
}  // namespace iwarp::conform
