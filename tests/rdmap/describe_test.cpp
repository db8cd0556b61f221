#include "iwarp/rdmap/describe.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/segments.hpp"

namespace iwarp::rdmap {
namespace {

using test::segment;
using test::tagged;
using test::untagged;

TEST(DescribeHeader, NamesTheFieldsOfATaggedSegment) {
  EXPECT_EQ(describe_header(segment(tagged(Opcode::kWrite, Stag{0x1234ABCD}, TaggedOffset{0x10}))),
            "tagged: opcode 0 (RDMA Write), L 1, STag 0x1234abcd, TO 0x0000000000000010");
  EXPECT_EQ(describe_header(segment(
                tagged(Opcode::kReadResponse, Stag{1}, TaggedOffset{UINT64_MAX}, ddp::Last::kNo))),
            "tagged: opcode 2 (RDMA Read Response), L 0, STag 0x00000001, TO 0xffffffffffffffff");
}

TEST(DescribeHeader, NamesTheFieldsOfAnUntaggedSegment) {
  EXPECT_EQ(describe_header(segment(untagged(Opcode::kSend, 7, 1500, ddp::Last::kNo))),
            "untagged: opcode 3 (Send), L 0, QN 0, MSN 7, MO 1500");
}

TEST(DescribeHeader, NamesTheStagThatASendInvalidates) {
  auto header = untagged(Opcode::kSendSolicitedInvalidate, 1);
  header.rsvd_ulp_word = 0xCAFE;
  EXPECT_EQ(describe_header(segment(header)),
            "untagged: opcode 6 (Send with SE and Invalidate), L 1, QN 0, MSN 1, MO 0, "
            "Invalidate STag 0x0000cafe");
}

TEST(DescribeHeader, SaysWhatIsWrongWithVersionsAndOpcodes) {
  auto header = segment(untagged(Opcode::kSend, 1));
  header[0] ^= std::byte{0x03};
  header[1] = std::byte{0xCF};
  EXPECT_EQ(describe_header(header),
            "untagged: opcode 15 (reserved), RDMAP version 3, L 1, DDP version 2, QN 0, MSN 1, "
            "MO 0");
}

TEST(DescribeHeader, SaysOfACutHeaderWhatIsThere) {
  const auto untagged_one = segment(untagged(Opcode::kSend, 9));
  const auto tagged_one = segment(tagged(Opcode::kWrite, Stag{5}, TaggedOffset{6}));
  const auto cut = [](const auto& header, std::size_t size) {
    return describe_header(ConstBytes(header).first(size));
  };
  EXPECT_EQ(cut(tagged_one, 0), "no header");
  EXPECT_EQ(cut(tagged_one, 1), "tagged: L 1, cut after 1 octets");
  EXPECT_EQ(cut(tagged_one, 2), "tagged: opcode 0 (RDMA Write), L 1, cut after 2 octets");
  EXPECT_EQ(cut(tagged_one, 13),
            "tagged: opcode 0 (RDMA Write), L 1, STag 0x00000005, cut after 13 octets");
  EXPECT_EQ(cut(untagged_one, 14),
            "untagged: opcode 3 (Send), L 1, QN 0, MSN 9, cut after 14 octets");
}

TEST(DescribeHeader, LooksAtNothingBehindTheHeader) {
  auto ulpdu = segment(tagged(Opcode::kWrite, Stag{5}, TaggedOffset{6}));
  const std::string alone = describe_header(ulpdu);
  ulpdu.resize(100, std::byte{0xFF});
  EXPECT_EQ(describe_header(ulpdu), alone);
}

TEST(DescribeHeader, FindsWordsForAnything) {
  const std::uint64_t seed = 4711;
  test::Random random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> garbage(random.below(24));
    for (std::byte& octet : garbage) octet = static_cast<std::byte>(random.below(256));
    const std::string text = describe_header(garbage);
    ASSERT_TRUE(text.starts_with("tagged: ") || text.starts_with("untagged: ") ||
                (garbage.empty() && text == "no header"))
        << "seed " << seed << ": " << text;
    ASSERT_EQ(text.find('\n'), std::string::npos);
  }
}

TEST(DescribeReadRequest, NamesItsFiveFields) {
  EXPECT_EQ(describe(ReadRequest{Stag{1}, TaggedOffset{2}, 3000, Stag{4}, TaggedOffset{5}}),
            "Read Request: Sink STag 0x00000001, Sink TO 0x0000000000000002, RDMARDSZ 3000, "
            "Source STag 0x00000004, Source TO 0x0000000000000005");
}

TEST(DescribeTerminate, ListsWhatItCarries) {
  Terminate message;
  EXPECT_EQ(describe_headers(message), "");
  message.read_request = ReadRequest{Stag{1}, TaggedOffset{2}, 3, Stag{4}, TaggedOffset{5}};
  EXPECT_EQ(describe_headers(message), describe(*message.read_request));
  const auto ulpdu = segment(tagged(Opcode::kWrite, Stag{1}, TaggedOffset{2}), test::pattern(32));
  message = terminate_for(cause_of(ddp::Error::kInvalidStag), ulpdu);
  EXPECT_EQ(describe_headers(message), "DDP Segment of 46 octets; " + describe_header(ulpdu));
}

}  // namespace
}  // namespace iwarp::rdmap
