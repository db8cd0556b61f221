#include "iwarp/rdmap/read_request.hpp"

#include <gtest/gtest.h>

#include "support/random.hpp"
#include "support/segments.hpp"
#include "support/vectors.hpp"

namespace iwarp::rdmap {
namespace {

using test::Bytes;
using test::encoded;

TEST(ReadRequest, HasTheLayoutOfRfc5040Figure6) {
  const ReadRequest request{Stag{0x01020304}, TaggedOffset{0x1112131415161718}, 0x21222324,
                            Stag{0x31323334}, TaggedOffset{0x4142434445464748}};
  EXPECT_EQ(encoded(request),
            test::from_hex("01020304 1112131415161718 21222324 31323334 4142434445464748"));
}

TEST(ReadRequest, ComesBackAsItWentOut) {
  test::Random r(1);
  for (int i = 0; i < 2000; ++i) {
    const ReadRequest request{Stag{r.word32()}, TaggedOffset{r.word()}, r.word32(),
                              Stag{r.word32()}, TaggedOffset{r.word()}};
    const auto parsed = ReadRequest::parse(encoded(request));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, request);
  }
}

TEST(ReadRequest, RejectsEveryOtherLength) {
  for (std::size_t size = 0; size < 64; ++size) {
    const Bytes bytes(size);
    EXPECT_EQ(ReadRequest::parse(bytes).has_value(), size == ReadRequest::kSize) << size;
  }
}

}  // namespace
}  // namespace iwarp::rdmap
