#include "conformance/decode_support.hpp"
#include "wire/startup_frame.hpp"

namespace iwarp::conform::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

StartupFrame request() {
  StartupFrame frame;
  frame.flags = kFlagCrc | kFlagEnhanced;
  frame.enhanced = EnhancedData{.peer_to_peer = true, .ird = 16, .write_rtr = true, .ord = 8};
  frame.private_data = octets("<hi>");
  return frame;
}

TEST(DecodeStartup, TellsEveryFieldOfAnEnhancedRequest) {
  const Decoded decoded = decode(startup_event(encode(request())));
  EXPECT_EQ(decoded.summary,
            "MPA Request Frame, revision 2, CRC, A, IRD 16, C, ORD 8, 4 octets of Private Data");
  EXPECT_EQ(value_of(decoded, "Key"), "\"MPA ID Req Frame\"");
  EXPECT_EQ(value_of(decoded, "M"), "0: takes no Markers");
  EXPECT_EQ(value_of(decoded, "C"), "1: wants CRCs");
  EXPECT_EQ(field_of(decoded, "C").bits, ".1.. ....");
  EXPECT_EQ(value_of(decoded, "S"), "1: enhanced set-up data follow");
  EXPECT_EQ(value_of(decoded, "Rev"), "2");
  EXPECT_EQ(value_of(decoded, "PD_Length"), "8");
  EXPECT_EQ(value_of(decoded, "A"), "1: peer-to-peer: the responder may send first");
  EXPECT_EQ(value_of(decoded, "IRD"), "16: RDMA Reads that it serves at a time");
  EXPECT_EQ(value_of(decoded, "ORD"), "8: RDMA Reads that it asks for at a time");
  EXPECT_EQ(field_of(decoded, "ORD").bits, "..00 0000 0000 1000");
  EXPECT_THAT(field_of(decoded, "ORD").ranges, ElementsAre(Range{22, 2}));
  EXPECT_EQ(value_of(decoded, "Private Data"), "4 octets: \"<hi>\"");
  EXPECT_THAT(field_of(decoded, "Private Data").ranges, ElementsAre(Range{24, 4}));
  EXPECT_THAT(irregular_fields(decoded), IsEmpty());
}

TEST(DecodeStartup, KnowsADepthThatIsNotStated) {
  StartupFrame frame = request();
  frame.enhanced->ird = kDepthNotStated;
  EXPECT_EQ(value_of(decode(startup_event(encode(frame))), "IRD"), "16383: not stated");
}

TEST(DecodeStartup, MarksWhatNoFrameMayHave) {
  StartupFrame frame = request();
  frame.key = octets("MPA ID Rew Frame");
  frame.flags |= 0x04;
  frame.revision = 7;
  const Decoded decoded = decode(startup_event(encode(frame)));
  EXPECT_THAT(irregular_fields(decoded), ElementsAre("Key", "Res", "Rev"));
  EXPECT_THAT(decoded.summary, HasSubstr("unknown key"));
  EXPECT_THAT(decoded.summary, HasSubstr("; irregular: Key, Res, Rev"));
}

TEST(DecodeStartup, MarksARequestThatRejectsButNotAReply) {
  StartupFrame frame = request();
  frame.flags |= kFlagReject;
  EXPECT_THAT(irregular_fields(decode(startup_event(encode(frame)))), ElementsAre("R"));
  frame.key = octets(kReplyKey);
  const Decoded reply = decode(startup_event(encode(frame)));
  EXPECT_THAT(irregular_fields(reply), IsEmpty());
  EXPECT_THAT(reply.summary, HasSubstr("rejected"));
}

TEST(DecodeStartup, MarksSInRevisionOne) {
  StartupFrame frame = request();
  frame.revision = 1;
  const Decoded decoded = decode(startup_event(encode(frame)));
  EXPECT_THAT(irregular_fields(decoded), ElementsAre("S"));
  EXPECT_EQ(value_of(decoded, "Private Data").substr(0, 8), "8 octets");
}

TEST(DecodeStartup, MarksALengthThatLies) {
  StartupFrame frame = request();
  frame.stated_length = 600;
  Decoded decoded = decode(startup_event(encode(frame)));
  EXPECT_EQ(value_of(decoded, "PD_Length"),
            "600, more than the 512 that it may be, but only 8 octets follow");
  EXPECT_EQ(value_of(decoded, "Private Data"), "4 octets, cut off: 596 were announced: \"<hi>\"");
  frame.stated_length = 5;
  decoded = decode(startup_event(encode(frame)));
  EXPECT_EQ(value_of(decoded, "surplus"), "3 octets, behind the end that PD_Length states");
  frame.stated_length = 3;
  decoded = decode(startup_event(encode(frame)));
  EXPECT_THAT(value_of(decoded, "PD_Length"), HasSubstr("too short for the enhanced data"));
}

TEST(DecodeStartup, TellsWhatThereIsOfEveryCutFrame) {
  const Octets whole = encode(request());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Event event = startup_event({whole.begin(), whole.begin() + static_cast<long>(size)});
    const Decoded decoded = decode(event);
    expect_partition(event, decoded);
    if (size < 20) {
      EXPECT_THAT(decoded.summary,
                  testing::AnyOf(HasSubstr("cut off"), HasSubstr("beginning"), "nothing"))
          << size;
    }
  }
}

}  // namespace
}  // namespace iwarp::conform::test
