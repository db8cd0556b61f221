#include "iwarp/rdmap/terminate.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/rdmap_fixture.hpp"
#include "support/vectors.hpp"

namespace iwarp::rdmap {
namespace {

using test::Bytes;
using test::encoded;
using test::from_hex;

const ReadRequest kAsked{Stag{0x01020304}, TaggedOffset{0x1112131415161718}, 0x21222324,
                         Stag{0x31323334}, TaggedOffset{0x4142434445464748}};
constexpr std::size_t kHeaderSizes[] = {0, ddp::kTaggedHeaderSize, ddp::kUntaggedHeaderSize};

void add_header(Terminate& message, std::size_t size) {
  message.ddp_header_size = size;
  for (std::size_t i = 0; i < size; ++i) message.ddp_header[i] = std::byte(0x51 + i);
  if (size == ddp::kTaggedHeaderSize) message.ddp_header[0] = std::byte{0xC1};
  if (size == ddp::kUntaggedHeaderSize) message.ddp_header[0] = std::byte{0x41};
}

// Every combination of the header control bits and header sizes.
std::vector<Terminate> all_shapes() {
  std::vector<Terminate> shapes;
  for (const std::size_t size : kHeaderSizes) {
    for (unsigned bits = 0; bits < 4; ++bits) {
      Terminate message;
      message.cause = {Layer::kRdmap, 1, 0x02};
      if ((bits & 1U) != 0) message.segment_length = 0x1234;
      if ((bits & 2U) != 0) message.read_request = kAsked;
      add_header(message, size);
      shapes.push_back(message);
    }
  }
  return shapes;
}

void expect_equal(const Terminate& a, const Terminate& b) {
  EXPECT_EQ(a.cause, b.cause);
  EXPECT_EQ(a.segment_length, b.segment_length);
  EXPECT_EQ(a.ddp_header_size, b.ddp_header_size);
  EXPECT_EQ(a.ddp_header, b.ddp_header);
  EXPECT_EQ(a.read_request, b.read_request);
}

TEST(Terminate, WithoutHeadersIsItsControlWord) {  // RFC 5040 Figures 7 and 8
  Terminate message;
  message.cause = {Layer::kLlp, 0, 0x02};
  EXPECT_EQ(encoded(message), from_hex("20 02 00 00"));
  message.cause = {Layer::kDdp, 2, 0x05};
  EXPECT_EQ(encoded(message), from_hex("12 05 00 00"));
}

TEST(Terminate, OfATaggedSegmentHasItsLengthAndHeader) {
  const Bytes header = from_hex("c140 01020304 1112131415161718");
  Terminate message;
  message.cause = {Layer::kDdp, 1, 0x01};
  message.segment_length = 0x0072;
  std::copy(header.begin(), header.end(), message.ddp_header.begin());
  message.ddp_header_size = header.size();
  EXPECT_EQ(encoded(message), from_hex("11 01 c0 00 0072 c140 01020304 1112131415161718"));
}

TEST(Terminate, OfAReadRequestHasBothHeaders) {
  const Bytes header = from_hex("4141 00000000 00000001 00000001 00000000");
  Terminate message;
  message.cause = {Layer::kRdmap, 1, 0x02};
  message.segment_length = 46;
  std::copy(header.begin(), header.end(), message.ddp_header.begin());
  message.ddp_header_size = header.size();
  message.read_request = kAsked;
  EXPECT_EQ(encoded(message),
            from_hex("01 02 e0 00 002e 4141 00000000 00000001 00000001 00000000"
                     "01020304 1112131415161718 21222324 31323334 4142434445464748"));
  EXPECT_EQ(encoded(message).size(), Terminate::kMaxSize);
}

TEST(Terminate, ComesBackAsItWentOutInEveryShape) {
  for (const Terminate& message : all_shapes()) {
    const auto parsed = Terminate::parse(encoded(message));
    ASSERT_TRUE(parsed);
    expect_equal(*parsed, message);
  }
}

TEST(Terminate, ComesBackWithEveryCause) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    Terminate message;
    message.cause = {static_cast<Layer>(octet >> 4U), static_cast<std::uint8_t>(octet & 0xFU),
                     static_cast<std::uint8_t>(octet * 7U)};
    EXPECT_EQ(Terminate::parse(encoded(message))->cause, message.cause);
  }
}

TEST(Terminate, RejectsEveryTruncatedLength) {
  for (const Terminate& message : all_shapes()) {
    const Bytes whole = encoded(message);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(Terminate::parse(cut)) << size << " of " << whole.size();
    }
  }
}

TEST(Terminate, KeepsTheCauseOfATruncatedMessage) {
  const Bytes bytes = from_hex("12 05 e0 00 0011");
  EXPECT_FALSE(Terminate::parse(bytes));
  EXPECT_EQ(Terminate::parse_cause(bytes), (Cause{Layer::kDdp, 2, 0x05}));
  for (std::size_t size = 0; size < Terminate::kControlSize; ++size) {
    EXPECT_FALSE(Terminate::parse_cause(ConstBytes(bytes).first(size)));
  }
}

TEST(Terminate, IgnoresReservedBitsAndWhatFollows) {
  for (const Terminate& message : all_shapes()) {
    Bytes bytes = encoded(message);
    bytes[2] |= std::byte{0x1F};
    bytes[3] = std::byte{0xFF};
    bytes.push_back(std::byte{0xEE});
    const auto parsed = Terminate::parse(bytes);
    ASSERT_TRUE(parsed);
    expect_equal(*parsed, message);
  }
}

TEST(Terminate, TakesALengthFieldThatIsThereButNotValid) {  // §4.8: D asks for it, M vouches for it
  Bytes bytes = from_hex("11 00 40 00 ffff c140 01020304 1112131415161718");
  const auto parsed = Terminate::parse(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->segment_length, std::nullopt);
  EXPECT_EQ(parsed->ddp_header_size, ddp::kTaggedHeaderSize);
  EXPECT_EQ(parsed->ddp_header[2], std::byte{0x01});
}

TEST(Terminate, KeepsTheCauseOfSiwsTerminates) {  // siw sets the header bits in the wrong place
  const Bytes whole = test::Vectors::load("siw-capture.txt").at("overrun-terminate");
  const Bytes message(whole.begin() + 20, whole.end() - 4);
  const auto parsed = Terminate::parse(message);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->cause, (Cause{Layer::kDdp, 1, 0x01}));
  EXPECT_EQ(parsed->ddp_header_size, 0U);
}

TEST(Terminate, NeverReadsOutsideOfRandomBytes) {
  test::Random random(1);
  for (int i = 0; i < 50000; ++i) {
    Bytes bytes(random.below(70));
    bytes.shrink_to_fit();
    random.fill(bytes);
    const auto parsed = Terminate::parse(bytes);
    if (parsed) {
      EXPECT_LE(encoded(*parsed).size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace iwarp::rdmap
