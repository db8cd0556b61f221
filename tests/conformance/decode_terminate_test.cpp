#include "conformance/decode_support.hpp"

namespace iwarp::conform::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

Decoded decode_terminate_octets(Octets octets) {
  return decode(
      fpdu_event(encode(untagged_segment(kTerminate, kTerminateQueue, 1, 0, std::move(octets)))));
}

// Of a Read Request whose header has a fault that is the tester's own.
Terminate of_read_request() {
  Segment terminated = untagged_segment(kReadRequest, kReadQueue, 4, 0, {});
  terminated.ddp_control |= 0x3C;
  return {.cause = {kLayerRdmap, 1, 0x01},
          .has_length = true,
          .has_ddp_header = true,
          .has_rdma_header = true,
          .segment_length = 46,
          .ddp_header = encode(terminated),
          .read_request = ReadRequest{.size = 77}};
}

TEST(DecodeTerminate, TellsTheCauseAndTheHeadersThatItSendsBack) {
  const Decoded decoded = decode_terminate_octets(encode(of_read_request()));
  EXPECT_THAT(decoded.summary, EndsWith("last): RDMAP / Remote Protection Error / Base or bounds "
                                        "violation (0/1/0x01)"));
  EXPECT_THAT(value_of(decoded, "Terminate Control"), HasSubstr("Base or bounds violation"));
  EXPECT_EQ(value_of(decoded, "Layer"), "0");
  EXPECT_EQ(value_of(decoded, "EType"), "1");
  EXPECT_EQ(value_of(decoded, "M"), "1: valid DDP Segment Length");
  EXPECT_EQ(field_of(decoded, "D").bits, ".1.. .... .... ....");
  EXPECT_EQ(value_of(decoded, "DDP Segment Length"), "46");
  EXPECT_THAT(field_of(decoded, "Terminated DDP Header").ranges, ElementsAre(Range{26, 18}));
  EXPECT_EQ(value_of(decoded, "Terminated RDMA Header"), "RDMA Read Request");
  EXPECT_EQ(value_of(decoded, "RDMA Read Message Size"), "77");
  EXPECT_EQ(field_of(decoded, "RDMA Read Message Size").depth, 1);
}

TEST(DecodeTerminate, DoesNotBlameItForTheHeadersThatItSendsBack) {
  EXPECT_THAT(irregular_fields(decode_terminate_octets(encode(of_read_request()))), IsEmpty());
}

TEST(DecodeTerminate, SaysWhatTheHeaderControlBitsAnnounceInVain) {
  Terminate terminate = of_read_request();
  terminate.segment_length.reset();
  terminate.ddp_header.clear();
  terminate.read_request.reset();
  const Decoded decoded = decode_terminate_octets(encode(terminate));
  EXPECT_THAT(decoded.summary, HasSubstr("irregular: Reserved"));
  const std::string value = value_of(decoded, "Reserved");
  EXPECT_THAT(value, HasSubstr("there is no DDP Segment Length"));
  EXPECT_THAT(value, HasSubstr("there is no Terminated DDP Header"));
  EXPECT_THAT(value, HasSubstr("there is no Terminated RDMA Header"));
}

TEST(DecodeTerminate, ShowsWhatTheHeaderControlBitsDoNotAnnounce) {
  // As Linux siw sends them: the bits stand where Reserved is.
  const Decoded decoded = decode_terminate_octets({0x11, 0x01, 0x03, 0x00, 0x00, 0x64, 0xC1, 0x42});
  EXPECT_THAT(irregular_fields(decoded), ElementsAre("Reserved", "surplus"));
  EXPECT_EQ(value_of(decoded, "surplus"),
            "4 octets, the header control bits announce nothing more");
}

TEST(DecodeTerminate, ShowsAnUnknownCause) {
  const Decoded decoded = decode_terminate_octets({0x93, 0x77, 0x00, 0x00});
  EXPECT_THAT(value_of(decoded, "Terminate Control"), HasSubstr("unknown layer"));
}

TEST(DecodeTerminate, TellsWhatThereIsOfEveryCutTerminate) {
  const Octets whole = encode(of_read_request());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Decoded decoded =
        decode_terminate_octets({whole.begin(), whole.begin() + static_cast<long>(size)});
    EXPECT_THAT(irregular_fields(decoded), testing::Not(IsEmpty())) << size;
    if (size < 4) {
      EXPECT_THAT(decoded.summary, HasSubstr("cut off")) << size;
    }
  }
}

}  // namespace
}  // namespace iwarp::conform::test
