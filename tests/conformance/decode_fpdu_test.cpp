#include "conformance/decode_support.hpp"
#include "conformance/vector_support.hpp"

namespace iwarp::conform::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DecodeFpdu, TellsTheFiguresOfTheRfc) {
  const auto vectors = load_vectors("rfc5044.txt");
  const Decoded first = decode({.kind = Event::Kind::kFpduReceived,
                                .octets = vectors.at("figure-5-first-fpdu"),
                                .framing = {.crc = true, .markers = true}});
  EXPECT_EQ(first.summary, "Send (QN 0, MSN 1, MO 0, 24 octets, last)");
  EXPECT_EQ(first.fields.front().name, "Marker");
  EXPECT_EQ(value_of(first, "FPDUPTR"), "0: an FPDU starts here");
  EXPECT_EQ(value_of(first, "CRC"), "0x83992352, good");
  EXPECT_THAT(irregular_fields(first), IsEmpty());

  const Decoded second = decode({.kind = Event::Kind::kFpduReceived,
                                 .octets = vectors.at("figure-6-second-fpdu"),
                                 .framing = {.crc = true, .markers = true},
                                 .position = 492});
  EXPECT_EQ(value_of(second, "FPDUPTR"), "20: so many octets behind ULPDU_Length");
  EXPECT_THAT(field_of(second, "Marker").ranges, ElementsAre(Range{20, 4}));
  EXPECT_THAT(field_of(second, "Payload").ranges, ElementsAre(Range{24, 24}));
  EXPECT_THAT(irregular_fields(second), IsEmpty());
}

TEST(DecodeFpdu, FindsNothingIrregularInWhatSiwSends) {
  const auto vectors = load_vectors("siw-capture.txt");
  std::size_t seen = 0;
  for (const auto& [name, octets] : vectors) {
    if (is_startup(name) || name == "overrun-terminate") continue;
    const Event event{
        .kind = Event::Kind::kFpduReceived, .octets = octets, .framing = {.crc = has_crc(name)}};
    const Decoded decoded = decode(event);
    EXPECT_THAT(irregular_fields(decoded), IsEmpty()) << name;
    expect_partition(event, decoded);
    ++seen;
  }
  EXPECT_EQ(seen, 18U);
}

TEST(DecodeFpdu, TellsTheControlOctetsBitByBit) {
  const Decoded decoded = decode(fpdu_event(encode(tagged_segment(kWrite, 7, 0x10, pattern(5)))));
  EXPECT_EQ(decoded.summary, "RDMA Write (STag 0x00000007, TO 0x0000000000000010, 5 octets, last)");
  EXPECT_EQ(value_of(decoded, "DDP Control"), "0xc1: tagged, last");
  EXPECT_EQ(field_of(decoded, "T").bits, "1... ....");
  EXPECT_EQ(field_of(decoded, "DV").bits, ".... ..01");
  EXPECT_EQ(field_of(decoded, "Opcode").bits, ".... 0000");
  EXPECT_EQ(value_of(decoded, "Opcode"), "0: RDMA Write");
  EXPECT_EQ(field_of(decoded, "Opcode").depth, 1);
  EXPECT_EQ(value_of(decoded, "PAD"), "3 octets");
}

TEST(DecodeFpdu, MarksEachDeliberateFaultOfTheFraming) {
  const Octets ulpdu = encode(untagged_segment(kSend, 0, 1, 0, pattern(7)));
  EXPECT_THAT(irregular_fields(decode(fpdu_event(ulpdu, {}, {.crc_xor = 1}))), ElementsAre("CRC"));
  EXPECT_THAT(irregular_fields(decode(fpdu_event(ulpdu, {}, {.pad_value = 9}))),
              ElementsAre("PAD"));
  EXPECT_EQ(value_of(decode(fpdu_event(ulpdu, {}, {.pad_delta = 4})), "surplus"),
            "4 octets, behind the FPDU that ULPDU_Length states");
  EXPECT_EQ(value_of(decode(fpdu_event(ulpdu, {}, {.length = 500})), "ULPDU_Length"),
            "500, but only 30 octets follow");
  const Framing marked{.crc = true, .markers = true};
  EXPECT_THAT(irregular_fields(decode(fpdu_event(ulpdu, marked, {.fpduptr = 8}))),
              ElementsAre("FPDUPTR"));
  EXPECT_THAT(irregular_fields(decode(fpdu_event(ulpdu, marked, {.marker_reserved = 1}))),
              ElementsAre("RESERVED"));
}

TEST(DecodeFpdu, DoesNotJudgeACrcThatIsNotInUse) {
  const Octets ulpdu = encode(untagged_segment(kSend, 0, 1, 0, {}));
  const Decoded decoded = decode(fpdu_event(ulpdu, {.crc = false}, {.crc_xor = 5}));
  EXPECT_EQ(value_of(decoded, "CRC"), "0x00000005, not in use");
  EXPECT_THAT(irregular_fields(decoded), IsEmpty());
}

TEST(DecodeFpdu, MarksWhatTheSegmentHeaderMayNotSay) {
  const auto irregular = [](const Segment& segment) {
    return irregular_fields(decode(fpdu_event(encode(segment))));
  };
  Segment segment = untagged_segment(kSend, 0, 1, 0, pattern(3));
  segment.ddp_control = kLast | 0x14;
  EXPECT_THAT(irregular(segment), ElementsAre("Rsvd", "DV"));
  segment = untagged_segment(kSend, 0, 1, 0, pattern(3));
  segment.rdmap_control = 0xB3;
  EXPECT_THAT(irregular(segment), ElementsAre("RV", "Rsv"));
  segment = untagged_segment(kSend, 1, 1, 0, pattern(3));
  EXPECT_THAT(irregular(segment), ElementsAre("QN"));
  segment.qn = 4;
  segment.invalidate_stag = 3;
  EXPECT_THAT(irregular(segment), ElementsAre("Invalidate STag", "QN"));
  segment = tagged_segment(kSend, 1, 1, pattern(3));
  EXPECT_THAT(irregular(segment), ElementsAre("Opcode"));
  segment = tagged_segment(static_cast<Opcode>(13), 1, 1, pattern(3));
  EXPECT_THAT(irregular(segment), ElementsAre("Opcode"));
}

TEST(DecodeFpdu, TellsWhichStagASendInvalidates) {
  Segment segment = untagged_segment(kSendInvalidate, 0, 2, 0, {});
  segment.invalidate_stag = 0xAB;
  EXPECT_EQ(
      decode(fpdu_event(encode(segment))).summary,
      "Send with Invalidate (QN 0, MSN 2, MO 0, invalidates STag 0x000000ab, 0 octets, last)");
}

TEST(DecodeFpdu, TellsAReadRequest) {
  const ReadRequest request{
      .sink_stag = 1, .sink_to = 2, .size = 300, .source_stag = 4, .source_to = 5};
  const Decoded decoded =
      decode(fpdu_event(encode(untagged_segment(kReadRequest, 1, 1, 0, encode(request)))));
  EXPECT_THAT(decoded.summary, HasSubstr("300 octets of STag 0x00000004, TO 0x0000000000000005 "
                                         "into STag 0x00000001, TO 0x0000000000000002"));
  EXPECT_THAT(field_of(decoded, "RDMA Read Message Size").ranges, ElementsAre(Range{32, 4}));
  EXPECT_THAT(irregular_fields(decoded), IsEmpty());
}

TEST(DecodeFpdu, TellsAtomics) {
  AtomicRequest request{.operation = kCmpSwap, .id = 9, .stag = 3, .to = 8};
  Decoded decoded =
      decode(fpdu_event(encode(untagged_segment(kAtomicRequest, 1, 1, 0, encode(request)))));
  EXPECT_THAT(decoded.summary, HasSubstr("CmpSwap at STag 0x00000003, TO 0x0000000000000008"));
  EXPECT_EQ(value_of(decoded, "AOpCode"), "2: CmpSwap");
  EXPECT_THAT(irregular_fields(decoded), IsEmpty());
  request.operation = 0x10 | 5;
  decoded = decode(fpdu_event(encode(untagged_segment(kAtomicRequest, 1, 1, 0, encode(request)))));
  EXPECT_THAT(irregular_fields(decoded), ElementsAre("Reserved", "AOpCode"));
  const AtomicResponse response{.id = 9, .original = 0x1234};
  decoded =
      decode(fpdu_event(encode(untagged_segment(kAtomicResponse, 3, 1, 0, encode(response)))));
  EXPECT_THAT(decoded.summary, HasSubstr("the value was 0x0000000000001234"));
}

TEST(DecodeFpdu, ShowsWhatAHeaderHasTooMuchOrTooLittle) {
  Octets header = encode(ReadRequest{});
  header.push_back(0xEE);
  EXPECT_EQ(value_of(decode(fpdu_event(encode(untagged_segment(kReadRequest, 1, 1, 0, header)))),
                     "surplus"),
            "1 octet, more than the message has");
  header.resize(26);
  const Decoded cut = decode(fpdu_event(encode(untagged_segment(kReadRequest, 1, 1, 0, header))));
  EXPECT_EQ(value_of(cut, "Data Source Tagged Offset"),
            "0x000000000000, cut off after 6 of 8 octets");
  EXPECT_THAT(cut.summary, HasSubstr("last): cut off; irregular: Data Source Tagged Offset"));
  const Decoded imm = decode(fpdu_event(encode(untagged_segment(kImmediate, 0, 1, 0, pattern(5)))));
  EXPECT_EQ(value_of(imm, "Immediate Data"), "5 octets, cut off: 8 were announced");
}

TEST(DecodeFpdu, ShowsAUlpduWithoutAWholeHeader) {
  EXPECT_THAT(decode(fpdu_event(Octets{0x41})).summary, HasSubstr("a ULPDU of 1 octet, too short"));
  EXPECT_THAT(decode(fpdu_event({})).summary, HasSubstr("an empty ULPDU"));
}

TEST(DecodeFpdu, PointsAtTheTrueOctetsAroundAMarker) {
  // The segment starts so that the Marker falls into the middle of the Tagged Offset.
  const Event event = fpdu_event(encode(tagged_segment(kWrite, 1, 0x1122334455667788, pattern(9))),
                                 {.crc = true, .markers = true}, {}, 500);
  ASSERT_EQ(event.position, 500U);
  const Decoded decoded = decode(event);
  expect_partition(event, decoded);
  EXPECT_THAT(field_of(decoded, "TO").ranges, ElementsAre(Range{8, 4}, Range{16, 4}));
  EXPECT_EQ(value_of(decoded, "TO"), "0x1122334455667788");
  EXPECT_THAT(field_of(decoded, "Marker").ranges, ElementsAre(Range{12, 4}));
  EXPECT_EQ(value_of(decoded, "FPDUPTR"), "12: so many octets behind ULPDU_Length");
  EXPECT_THAT(value_of(decoded, "CRC"), HasSubstr("good"));
}

}  // namespace
}  // namespace iwarp::conform::test
