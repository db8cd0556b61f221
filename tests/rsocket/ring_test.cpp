#include "wire/ring.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace iwarp::rsocket {
namespace {

TEST(RsocketRingSpace, GivesEachOctetOnceUntilReleased) {
  RingSpace space(100);
  space.claim(60);
  EXPECT_EQ(space.room(), 40U);
  space.claim(40);
  EXPECT_EQ(space.room(), 0U);
  space.release(30);
  EXPECT_EQ(space.room(), 30U);
}

TEST(RsocketRingSpace, SplitsARangeAtTheRingsEnd) {
  RingSpace space(100);
  space.claim(70);
  space.release(70);
  EXPECT_EQ(space.room_in_one_piece(), 30U);
  const RingRange range = space.claim(50);
  EXPECT_EQ(range.first.offset, 70U);
  EXPECT_EQ(range.first.length, 30U);
  EXPECT_EQ(range.second.offset, 0U);
  EXPECT_EQ(range.second.length, 20U);
}

TEST(RsocketRingSpace, RefusesReleasesThatCannotBe) {
  RingSpace space(100);
  space.claim(50);
  EXPECT_FALSE(space.release_to(51));
  EXPECT_TRUE(space.release_to(50));
  EXPECT_FALSE(space.release_to(49));
  EXPECT_EQ(space.room(), 100U);
}

TEST(RsocketRingData, RefusesMoreThanTheRingHolds) {
  RingData data(100);
  EXPECT_TRUE(data.arrive(100));
  EXPECT_FALSE(data.arrive(1));
  data.consume(1);
  EXPECT_FALSE(data.arrive(2));
  EXPECT_FALSE(data.arrive(~std::uint64_t{0}));
  EXPECT_TRUE(data.arrive(1));
  EXPECT_EQ(data.readable(), 100U);
}

TEST(RsocketRingData, IsWorthTellingOfAQuarter) {
  RingData data(100);
  ASSERT_TRUE(data.arrive(60));
  data.consume(24);
  EXPECT_FALSE(data.worth_telling());
  data.consume(1);
  EXPECT_TRUE(data.worth_telling());
  data.told();
  EXPECT_FALSE(data.worth_telling());
  EXPECT_EQ(data.released(), 25U);
}

// Both sides over one ring of memory: what is read is what was written.
class RingPair {
 public:
  explicit RingPair(std::uint64_t length) : memory_(length), space_(length), data_(length) {}

  void write(std::uint64_t most) {
    const std::uint64_t length = std::min(most, space_.room());
    const RingRange range = space_.claim(length);
    for (const RingPiece piece : {range.first, range.second}) {
      for (std::uint64_t each = 0; each < piece.length; ++each)
        memory_.at(piece.offset + each) = next_written_++;
    }
    ASSERT_TRUE(data_.arrive(length));
  }

  void read(std::uint64_t most) {
    const std::uint64_t length = std::min(most, data_.readable());
    const RingRange range = data_.front(length);
    for (const RingPiece piece : {range.first, range.second}) {
      for (std::uint64_t each = 0; each < piece.length; ++each)
        ASSERT_EQ(memory_.at(piece.offset + each), next_read_++);
    }
    data_.consume(length);
  }

  void tell() { ASSERT_TRUE(space_.release_to(data_.released())); }

 private:
  std::vector<std::uint8_t> memory_;
  RingSpace space_;
  RingData data_;
  std::uint8_t next_written_ = 0, next_read_ = 0;
};

TEST(RsocketRing, CarriesEveryOctetInOrder) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (const std::uint64_t length : {1U, 7U, 64U, 1000U}) {
    RingPair pair(length);
    for (int step = 0; step < 20'000 && !testing::Test::HasFatalFailure(); ++step) {
      pair.write(random() % (length + 2));
      pair.read(random() % (length + 2));
      if (random() % 3 == 0) pair.tell();
    }
  }
}

}  // namespace
}  // namespace iwarp::rsocket
