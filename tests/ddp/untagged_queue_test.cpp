#include "iwarp/ddp/untagged_queue.hpp"

#include <gtest/gtest.h>

namespace iwarp::ddp {
namespace {

UntaggedHeader segment(std::uint32_t msn, std::uint32_t mo, Last last = Last::kNo) {
  return {last, 0, 0, QueueNumber{0}, Msn{msn}, MessageOffset{mo}};
}

constexpr std::uint32_t kGreatest = 0xFFFFFFFFU;

TEST(UntaggedQueue, StartsWithMsnOneAndNoMessage) {  // RFC 5041 §4.3
  const UntaggedQueue queue;
  EXPECT_EQ(queue.expected(), Msn{1});
  EXPECT_FALSE(queue.open());
}

TEST(UntaggedQueue, AcceptsNoMsnButTheOneThatIsDue) {
  const UntaggedQueue queue;
  EXPECT_EQ(queue.check_order(segment(1, 0)), std::nullopt);
  for (const std::uint32_t msn : {0U, 2U, 3U, 0x80000000U, kGreatest}) {
    EXPECT_EQ(queue.check_order(segment(msn, 0)), Error::kMsnOutOfRange) << msn;
  }
}

TEST(UntaggedQueue, GoesOnToTheNextMsnAfterTheLastSegmentOnly) {
  UntaggedQueue queue;
  queue.open_message(100);
  queue.advance(segment(1, 0), 40);
  EXPECT_TRUE(queue.open());
  EXPECT_EQ(queue.expected(), Msn{1});
  EXPECT_EQ(queue.placed(), 40U);
  queue.advance(segment(1, 40, Last::kYes), 60);
  EXPECT_FALSE(queue.open());
  EXPECT_EQ(queue.expected(), Msn{2});
}

TEST(UntaggedQueue, WrapsFromTheGreatestMsnToZero) {  // RFC 5041 §4.3
  UntaggedQueue queue(Msn{kGreatest});
  EXPECT_EQ(queue.check_order(segment(kGreatest, 0)), std::nullopt);
  EXPECT_EQ(queue.check_order(segment(0, 0)), Error::kMsnOutOfRange);
  queue.open_message(0);
  queue.advance(segment(kGreatest, 0, Last::kYes), 0);
  EXPECT_EQ(queue.check_order(segment(0, 0)), std::nullopt);
  EXPECT_EQ(queue.check_order(segment(1, 0)), Error::kMsnOutOfRange);
}

TEST(UntaggedQueue, AcceptsNoOffsetButThatOfTheNextOctet) {
  UntaggedQueue queue;
  queue.open_message(100);
  EXPECT_EQ(queue.check_fit(segment(1, 1), 10), Error::kInvalidMessageOffset);
  EXPECT_EQ(queue.check_fit(segment(1, 0), 10), std::nullopt);
  queue.advance(segment(1, 0), 10);
  for (const std::uint32_t mo : {0U, 9U, 11U, 90U, 100U, 101U, kGreatest}) {
    EXPECT_EQ(queue.check_fit(segment(1, mo), 10), Error::kInvalidMessageOffset) << mo;
  }
  EXPECT_EQ(queue.check_fit(segment(1, 10), 10), std::nullopt);
}

TEST(UntaggedQueue, FillsItsBufferToTheLastOctetAndNoFurther) {
  UntaggedQueue queue;
  queue.open_message(100);
  EXPECT_EQ(queue.check_fit(segment(1, 0), 100), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(1, 0), 101), Error::kMessageTooLong);
  queue.advance(segment(1, 0), 60);
  EXPECT_EQ(queue.check_fit(segment(1, 60), 40), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(1, 60), 41), Error::kMessageTooLong);
  queue.advance(segment(1, 60), 40);
  EXPECT_EQ(queue.check_fit(segment(1, 100), 0), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(1, 100), 1), Error::kMessageTooLong);
}

TEST(UntaggedQueue, TakesAnEmptyMessageInAnEmptyBuffer) {
  UntaggedQueue queue;
  queue.open_message(0);
  EXPECT_EQ(queue.check_fit(segment(1, 0, Last::kYes), 0), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(1, 0, Last::kYes), 1), Error::kMessageTooLong);
}

TEST(UntaggedQueue, StartsEachMessageAtOffsetZero) {
  UntaggedQueue queue;
  queue.open_message(100);
  queue.advance(segment(1, 0, Last::kYes), 50);
  queue.open_message(10);
  EXPECT_EQ(queue.placed(), 0U);
  EXPECT_EQ(queue.check_fit(segment(2, 0), 10), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(2, 0), 11), Error::kMessageTooLong);
}

// A buffer may be larger than any message: messages end below 2^32 octets (RFC 5041 §5.2).
TEST(UntaggedQueue, RefusesAMessageOf4GiBEvenIfItsBufferIsLarger) {
  UntaggedQueue queue;
  queue.open_message(std::uint64_t{1} << 34U);
  queue.advance(segment(1, 0), kGreatest - 10U);
  EXPECT_EQ(queue.check_fit(segment(1, kGreatest - 10U), 10), std::nullopt);
  EXPECT_EQ(queue.check_fit(segment(1, kGreatest - 10U), 11), Error::kMessageTooLong);
}

}  // namespace
}  // namespace iwarp::ddp
