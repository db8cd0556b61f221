#include <gtest/gtest.h>

#include "support/rdmap_fixture.hpp"
#include "support/vectors.hpp"

namespace iwarp::test {
namespace {

// What Linux siw put on the wire, without MPA's length, padding and CRC.
Bytes ulpdu(const std::string& name) {
  static const Vectors kVectors = Vectors::load("siw-capture.txt");
  const Bytes& fpdu = kVectors.at(name);
  const auto length = load_be<std::uint16_t>(fpdu.data());
  return {fpdu.begin() + 2, fpdu.begin() + 2 + length};
}

Bytes to_bytes(ConstBytes bytes) { return {bytes.begin(), bytes.end()}; }

template <typename Segment>
Segment parsed(const Bytes& bytes) {
  const auto segment = ddp::parse(bytes);
  EXPECT_TRUE(segment);
  return std::get<Segment>(*segment);
}

TEST(SiwCapture, RtrIsAnEmptyWrite) {
  const Bytes bytes = ulpdu("p2p-crc-rtr-write");
  const auto write = parsed<ddp::TaggedSegment>(bytes);
  EXPECT_EQ(write.header, tagged(Opcode::kWrite, Stag{1}, TaggedOffset{0}));
  EXPECT_TRUE(write.payload.empty());
}

TEST(SiwCapture, SendIsReadFieldByField) {
  const Bytes bytes = ulpdu("p2p-crc-send-ping-buffer");
  const auto send = parsed<ddp::UntaggedSegment>(bytes);
  EXPECT_EQ(send.header, untagged(Opcode::kSend, 1));
  EXPECT_EQ(to_bytes(send.payload), from_hex("000055fa138f9370 53e43300 00000040"));
}

TEST(SiwCapture, ReadRequestIsReadFieldByField) {
  const Bytes bytes = ulpdu("p2p-crc-read-request");
  const auto request = parsed<ddp::UntaggedSegment>(bytes);
  EXPECT_EQ(request.header, untagged(Opcode::kReadRequest, 1));
  const rdmap::ReadRequest expected{Stag{0xE2324A00}, TaggedOffset{0x0000558B64323550}, 64,
                                    Stag{0x53E43300}, TaggedOffset{0x000055FA138F9370}};
  EXPECT_EQ(rdmap::ReadRequest::parse(request.payload), expected);
}

TEST(SiwCapture, ReadResponseGoesToTheSinkOfItsRequest) {
  const Bytes bytes = ulpdu("p2p-crc-read-response");
  const auto response = parsed<ddp::TaggedSegment>(bytes);
  EXPECT_EQ(response.header,
            tagged(Opcode::kReadResponse, Stag{0xE2324A00}, TaggedOffset{0x0000558B64323550}));
  EXPECT_EQ(response.payload.size(), 64U);
}

// The other way round: the same headers come out of our own encoders.
TEST(SiwCapture, HeadersAreEncodedToTheSameOctets) {
  for (const char* name :
       {"p2p-crc-rtr-write", "p2p-crc-send-ping-buffer", "p2p-crc-read-request",
        "p2p-crc-read-response", "p2p-crc-write-pong", "padded-write", "no-reads-send-4-bytes"}) {
    const Bytes bytes = ulpdu(name);
    const auto any = ddp::parse(bytes);
    ASSERT_TRUE(any) << name;
    const Ulpdu again =
        std::visit([](const auto& s) { return segment(s.header, s.payload); }, *any);
    EXPECT_EQ(again, bytes) << name;
  }
}

// The server's side of siw's rping, up to its Read: RTR, Send, and the answer to a Read Request.
TEST(SiwCapture, IsUnderstoodByAReceiver) {
  Endpoint endpoint;
  const ddp::Rights readable = ddp::Rights::kRemoteRead;
  Region& inbox = endpoint.enable(64, ddp::Rights::kLocalWrite);
  endpoint.receives.post(11, {inbox.sge(0, 16)});
  event_of<rdmap::PlacedWrite>(endpoint.receive(ulpdu("p2p-crc-rtr-write")));
  const auto sent =
      event_of<rdmap::SendDelivered>(endpoint.receive(ulpdu("p2p-crc-send-ping-buffer")));
  EXPECT_EQ(sent.cookie, 11U);
  EXPECT_EQ(sent.length, 16U);
  EXPECT_EQ(to_bytes(inbox.part(0, 16)), from_hex("000055fa138f9370 53e43300 00000040"));

  // Our STags are not siw's: the request must be refused, and the refusal must echo it.
  endpoint.enable(64, readable, kPd, 0x000055FA138F9370);
  const Outcome refused = endpoint.receive(ulpdu("p2p-crc-read-request"));
  expect_fault(refused, {Layer::kRdmap, 1, 0x00});
  EXPECT_EQ(refused.error().terminate.read_request->size, 64U);
}

TEST(SiwCapture, TerminateIsUnderstoodByAReceiver) {
  Endpoint endpoint;
  const auto message = event_of<rdmap::Terminate>(endpoint.receive(ulpdu("overrun-terminate")));
  EXPECT_EQ(message.cause, (Cause{Layer::kDdp, 1, 0x01}));
}

}  // namespace
}  // namespace iwarp::test
