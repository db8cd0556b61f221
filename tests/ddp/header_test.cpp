#include "iwarp/ddp/header.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/vectors.hpp"

namespace iwarp::ddp {
namespace {

using test::Bytes;
using test::from_hex;
using test::Random;

template <typename Header>
Bytes encoded(const Header& header, std::size_t size, std::size_t payload = 0) {
  Bytes bytes(size + payload, std::byte{0xEE});
  header.encode(bytes.data());
  return bytes;
}
Bytes encoded(const TaggedHeader& h, std::size_t payload = 0) {
  return encoded(h, kTaggedHeaderSize, payload);
}
Bytes encoded(const UntaggedHeader& h, std::size_t payload = 0) {
  return encoded(h, kUntaggedHeaderSize, payload);
}

Last some_last(Random& random) { return random.one_in(2) ? Last::kYes : Last::kNo; }

TaggedHeader some_tagged(Random& r) {
  return {some_last(r), r.octet(), Stag{r.word32()}, TaggedOffset{r.word()}};
}

UntaggedHeader some_untagged(Random& r) {
  return {some_last(r),    r.octet(),
          r.word32(),      QueueNumber{r.word32()},
          Msn{r.word32()}, MessageOffset{r.word32()}};
}

TEST(TaggedHeader, HasTheLayoutOfRfc5041Figure4) {
  const TaggedHeader header{Last::kYes, 0x42, Stag{0x01020304}, TaggedOffset{0x1112131415161718}};
  EXPECT_EQ(encoded(header), from_hex("c1 42 01020304 1112131415161718"));
  const TaggedHeader middle{Last::kNo, 0x40, Stag{0xFFFFFFFF}, TaggedOffset{1}};
  EXPECT_EQ(encoded(middle), from_hex("81 40 ffffffff 0000000000000001"));
}

TEST(UntaggedHeader, HasTheLayoutOfRfc5041Figure5) {
  const UntaggedHeader header{Last::kYes,      0x43,
                              0xA1A2A3A4,      QueueNumber{0x01020304},
                              Msn{0x11121314}, MessageOffset{0x21222324}};
  EXPECT_EQ(encoded(header), from_hex("41 43 a1a2a3a4 01020304 11121314 21222324"));
  const UntaggedHeader middle{Last::kNo, 0x45, 0, QueueNumber{0}, Msn{1}, MessageOffset{0}};
  EXPECT_EQ(encoded(middle), from_hex("01 45 00000000 00000000 00000001 00000000"));
}

TEST(TaggedHeader, ComesBackAsItWentOut) {
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const TaggedHeader header = some_tagged(random);
    const std::size_t payload = random.below(40);
    const Bytes ulpdu = encoded(header, payload);
    const auto segment = parse(ulpdu);
    ASSERT_TRUE(segment);
    const auto& tagged = std::get<TaggedSegment>(*segment);
    EXPECT_EQ(tagged.header, header);
    EXPECT_EQ(tagged.payload.data(), ulpdu.data() + kTaggedHeaderSize);
    EXPECT_EQ(tagged.payload.size(), payload);
  }
}

TEST(UntaggedHeader, ComesBackAsItWentOut) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    const UntaggedHeader header = some_untagged(random);
    const std::size_t payload = random.below(40);
    const Bytes ulpdu = encoded(header, payload);
    const auto segment = parse(ulpdu);
    ASSERT_TRUE(segment);
    const auto& untagged = std::get<UntaggedSegment>(*segment);
    EXPECT_EQ(untagged.header, header);
    EXPECT_EQ(untagged.payload.data(), ulpdu.data() + kUntaggedHeaderSize);
    EXPECT_EQ(untagged.payload.size(), payload);
  }
}

void expect_rejected_below(const Bytes& whole) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto segment = parse(cut);
    ASSERT_FALSE(segment) << size;
    EXPECT_EQ(segment.error(), Error::kTruncatedHeader) << size;
  }
  EXPECT_TRUE(parse(whole));
}

TEST(TaggedHeader, OfTheNextSegmentDiffersInItsTaggedOffset) {
  TaggedHeader header{Last::kNo, 0x40, Stag{0x01020304}, TaggedOffset{0xFFFFFFFFFFFFFFF0}};
  auto octets = encoded(header);
  advance(octets.data(), 0x1F);
  header.to = TaggedOffset{0xF};  // wraps: the receiver sees to that
  EXPECT_EQ(octets, encoded(header));
}

TEST(UntaggedHeader, OfTheNextSegmentDiffersInItsMessageOffset) {
  UntaggedHeader header{Last::kNo, 0x43, 0xA1A2A3A4, QueueNumber{0}, Msn{7}, MessageOffset{0xFFFF}};
  auto octets = encoded(header);
  advance(octets.data(), 1442);
  header.mo = MessageOffset{0xFFFF + 1442};
  EXPECT_EQ(octets, encoded(header));
}

TEST(TaggedHeader, RejectsTruncatedSegment) { expect_rejected_below(encoded(TaggedHeader{})); }

TEST(UntaggedHeader, RejectsTruncatedSegment) { expect_rejected_below(encoded(UntaggedHeader{})); }

// A header whose version field is overwritten.
Bytes with_version(Bytes bytes, unsigned version) {
  bytes[0] = (bytes[0] & std::byte{0xFC}) | std::byte(version);
  return bytes;
}

TEST(DdpVersion, IsRefusedByTheErrorOfItsBufferModel) {  // RFC 5041 §4.1, §7.2
  for (const unsigned version : {0U, 2U, 3U}) {
    const auto tagged = parse(with_version(encoded(TaggedHeader{}), version));
    ASSERT_FALSE(tagged);
    EXPECT_EQ(tagged.error(), Error::kTaggedVersion);
    const auto untagged = parse(with_version(encoded(UntaggedHeader{}), version));
    ASSERT_FALSE(untagged);
    EXPECT_EQ(untagged.error(), Error::kUntaggedVersion);
  }
}

TEST(DdpVersion, OfATruncatedHeaderIsNotLookedAt) {
  Bytes bytes = with_version(encoded(TaggedHeader{}), 3);
  bytes.pop_back();
  EXPECT_EQ(parse(bytes).error(), Error::kTruncatedHeader);
}

TEST(DdpReservedBits, AreSentAsZeroAndIgnoredOnReceipt) {  // RFC 5041 §4.1
  Random random(3);
  for (unsigned reserved = 0; reserved < 16; ++reserved) {
    const TaggedHeader tagged = some_tagged(random);
    Bytes bytes = encoded(tagged);
    EXPECT_EQ(bytes[0] & std::byte{0x3C}, std::byte{0});
    bytes[0] |= std::byte(reserved << 2U);
    EXPECT_EQ(std::get<TaggedSegment>(*parse(bytes)).header, tagged);

    const UntaggedHeader untagged = some_untagged(random);
    bytes = encoded(untagged);
    EXPECT_EQ(bytes[0] & std::byte{0x3C}, std::byte{0});
    bytes[0] |= std::byte(reserved << 2U);
    EXPECT_EQ(std::get<UntaggedSegment>(*parse(bytes)).header, untagged);
  }
}

TEST(ClaimedHeaderSize, GoesByTheTaggedFlagAlone) {
  EXPECT_EQ(claimed_header_size({}), 0U);
  for (unsigned control = 0; control < 256; ++control) {
    const auto octet = std::byte(control);
    EXPECT_EQ(claimed_header_size({&octet, 1}), control < 0x80 ? 18U : 14U);
  }
}

TEST(Parse, NeverReadsOutsideOfRandomBytes) {
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random.below(40));
    bytes.shrink_to_fit();
    random.fill(bytes);
    const auto segment = parse(bytes);
    if (!segment) continue;
    const std::size_t header = claimed_header_size(bytes);
    std::visit([&](const auto& s) { EXPECT_EQ(s.payload.size(), bytes.size() - header); },
               *segment);
  }
}

}  // namespace
}  // namespace iwarp::ddp
