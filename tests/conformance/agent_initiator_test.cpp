#include <cstring>

#include "agent_support.hpp"

/// The agent connects to the tester, and posts requests of every kind.
namespace iwarp::conform {
namespace {

constexpr std::uint32_t kStag = 0x00C0FFEE;
constexpr std::uint64_t kAddress = 0x1122334455667788;

class AgentInitiator : public AgentTest {
 protected:
  /// Connected; `region` holds a pattern.
  Link connected() {
    agent_.store(region_, 0, pattern(64));
    return context_.answer(context_.call("p2p=0"));
  }
  static std::string local(std::size_t length) {
    return "region=1 offset=0 length=" + std::to_string(length);
  }
  static std::string remote() {
    return " stag=" + hex_number(kStag, 8) + " address=" + hex_number(kAddress, 16);
  }

  Region region_ = agent_.region(64, "local_write");
};

TEST_F(AgentInitiator, AsksAsItIsTold) {
  auto call = context_.call("revision=2 crc=0 markers=1 p2p=0", "private=0102 ird=3 ord=4");
  EXPECT_EQ(call.request.revision, 2);
  EXPECT_FALSE(call.request.crc());
  EXPECT_TRUE(call.request.markers());
  EXPECT_EQ(call.request.private_data, (Octets{1, 2}));
  ASSERT_TRUE(call.request.enhanced.has_value());
  EXPECT_EQ(call.request.enhanced->ird, 3);
  EXPECT_EQ(call.request.enhanced->ord, 4);
  EXPECT_FALSE(call.request.enhanced->peer_to_peer);
  EXPECT_EQ(context_.call("revision=1").request.revision, 1);
  EXPECT_TRUE(context_.call("p2p=1").request.enhanced->peer_to_peer);
}

TEST_F(AgentInitiator, TellsOfTheReply) {
  auto call = context_.call("p2p=0");
  StartupFrame reply = context_.reply_to(call.request);
  reply.private_data = {4, 5, 6};
  Link link = context_.answer(std::move(call), reply);
  Answer established;
  EXPECT_EQ(link.agent_end().event(kPatience, &established), "established");
  EXPECT_EQ(established.octets("private"), reply.private_data);
  EXPECT_EQ(established.number("ird"), 16U);
  EXPECT_EQ(established.number("ord"), 16U);
}

TEST_F(AgentInitiator, TellsOfARejection) {
  auto call = context_.call();
  StartupFrame reply = context_.reply_to(call.request);
  reply.flags |= kFlagReject;
  reply.enhanced = EnhancedData{.ird = 2, .ord = 3};
  reply.private_data = {7};
  call.stream.send(reply);
  Answer rejected;
  EXPECT_EQ(call.endpoint.event(kPatience, &rejected), "rejected");
  EXPECT_EQ(rejected.octets("private"), Octets{7});
  EXPECT_EQ(rejected.number("ird"), 2U);
  EXPECT_EQ(rejected.number("ord"), 3U);
}

TEST_F(AgentInitiator, TellsOfAFailure) {
  std::uint16_t port = 0;
  {
    TcpListener nobody("127.0.0.1");
    port = nobody.port();
  }
  const Answer dialled = agent_.call("dial address=127.0.0.1 port=" + std::to_string(port));
  Endpoint endpoint(agent_, dialled.number("endpoint"));
  endpoint.connect();
  EXPECT_EQ(endpoint.event(kPatience), "failed");
  EXPECT_THROW(endpoint.connect(), AgentError);
}

TEST_F(AgentInitiator, SendsInFourWays) {
  Link link = connected();
  const struct {
    agent_protocol::Operation op;
    Opcode opcode;
    bool invalidates;
  } kWays[] = {{"send", kSend, false},
               {"send_se", kSendSolicited, false},
               {"send_inv", kSendInvalidate, true},
               {"send_se_inv", kSendSolicitedInvalidate, true}};
  std::uint64_t id = 100;
  for (const auto& way : kWays) {
    link.agent_end().post(++id, way.op,
                          local(40) + (way.invalidates ? " invalidate=0x00000abc" : ""));
    const Segment segment = link.stream.expect_segment_of(way.opcode);
    EXPECT_EQ(segment.payload, pattern(40)) << way.op.text();
    EXPECT_EQ(segment.invalidate_stag, way.invalidates ? 0xABCU : 0U) << way.op.text();
    const Completion done = completion_of(link.agent_end());
    EXPECT_EQ(done.id, id);
    EXPECT_EQ(done.op, way.op.text());
    EXPECT_EQ(done.status, "success");
  }
}

TEST_F(AgentInitiator, SendsNothing) {
  Link link = connected();
  link.agent_end().post(1, "send", "region=1 offset=64 length=0");
  EXPECT_TRUE(link.stream.expect_segment_of(kSend).payload.empty());
}

TEST_F(AgentInitiator, Writes) {
  Link link = connected();
  link.agent_end().write(1, region_, 24, kStag, kAddress);
  const Segment segment = link.stream.expect_segment_of(kWrite);
  EXPECT_EQ(segment.stag, kStag);
  EXPECT_EQ(segment.to, kAddress);
  EXPECT_EQ(segment.payload, pattern(24));
  EXPECT_EQ(completion_of(link.agent_end()).op, "write");
}

TEST_F(AgentInitiator, Reads) {
  Link link = connected();
  link.agent_end().read(1, region_, 24, kStag, kAddress);
  const Segment segment = link.stream.expect_segment_of(kReadRequest);
  const auto request = parse_read_request(segment.payload);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->source_stag, kStag);
  EXPECT_EQ(request->source_to, kAddress);
  ASSERT_EQ(request->size, 24U);
  const Octets data = pattern(24, 99);
  link.stream.send(tagged_segment(kReadResponse, request->sink_stag, request->sink_to, data));
  const Completion done = completion_of(link.agent_end());
  EXPECT_EQ(done.op, "read");
  EXPECT_EQ(done.length, 24U);
  EXPECT_EQ(agent_.fetch(region_, 0, 24), data);
}

TEST_F(AgentInitiator, AsksForAtomics) {
  Link link = connected();
  const struct {
    agent_protocol::Operation op;
    const char* pairs;
    std::uint32_t operation;
    std::uint64_t data, compare;
  } kWays[] = {{"fetch_add", " add=0x5", kFetchAdd, 5, 0},
               {"cmp_swap", " compare=0x6 swap=0x7", kCmpSwap, 7, 6}};
  std::uint32_t msn = 0;
  for (const auto& way : kWays) {
    link.agent_end().post(1, way.op, local(8) + remote() + way.pairs);
    const auto request =
        parse_atomic_request(link.stream.expect_segment_of(kAtomicRequest).payload);
    ASSERT_TRUE(request.has_value()) << way.op.text();
    EXPECT_EQ(request->operation, way.operation);
    EXPECT_EQ(request->stag, kStag);
    EXPECT_EQ(request->to, kAddress);
    EXPECT_EQ(request->data, way.data);
    if (way.operation == kCmpSwap) {
      EXPECT_EQ(request->compare, way.compare);
      EXPECT_EQ(request->mask, UINT64_MAX);
      EXPECT_EQ(request->compare_mask, UINT64_MAX);
    }
    const AtomicResponse response{.id = request->id, .original = 0x0102030405060708};
    link.stream.send(
        untagged_segment(kAtomicResponse, kAtomicResponseQueue, ++msn, 0, encode(response)));
    EXPECT_EQ(completion_of(link.agent_end()).op, way.op.text());
    std::uint64_t original = 0;
    const Octets placed = agent_.fetch(region_, 0, 8);
    std::memcpy(&original, placed.data(), 8);
    EXPECT_EQ(original, response.original);
  }
}

TEST_F(AgentInitiator, SendsImmediateData) {
  Link link = connected();
  const Octets data{1, 2, 3, 4, 5, 6, 7, 8};
  const std::string immediate = "immediate=0102030405060708";
  link.agent_end().post(1, "imm", immediate);
  EXPECT_EQ(link.stream.expect_segment_of(kImmediate).payload, data);
  link.agent_end().post(2, "imm_se", immediate);
  EXPECT_EQ(link.stream.expect_segment_of(kImmediateSolicited).payload, data);
  link.agent_end().post(3, "write_imm", local(12) + remote() + ' ' + immediate);
  EXPECT_EQ(link.stream.expect_segment_of(kWrite).payload, pattern(12));
  EXPECT_EQ(link.stream.expect_segment_of(kImmediate).payload, data);
  for (const char* op : {"imm", "imm_se", "write_imm"}) {
    EXPECT_EQ(completion_of(link.agent_end()).op, op);
  }
}

TEST_F(AgentInitiator, TellsWhyARequestFailed) {
  Link link = connected();
  link.agent_end().read(8, region_, 24, kStag, kAddress);
  const Segment request = link.stream.expect_segment_of(kReadRequest);
  Terminate terminate;
  terminate.cause = {kLayerRdmap, 1, 0x00};
  link.stream.send(untagged_segment(kTerminate, kTerminateQueue, 1, 0, encode(terminate)));
  const Completion failed = completion_of(link.agent_end());
  EXPECT_EQ(failed.id, 8U);
  EXPECT_EQ(failed.op, "read");
  EXPECT_EQ(failed.length, 0U);
  EXPECT_NE(failed.status, "success");
  link.stream.shut_down_sending();
  EXPECT_EQ(link.agent_end().event(kPatience), "established");
  EXPECT_EQ(link.agent_end().event(kPatience), "disconnected");
}

}  // namespace
}  // namespace iwarp::conform
