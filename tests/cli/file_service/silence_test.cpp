#include "file_service/wire/silence.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli::file_service {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 100ms;
constexpr auto kLimit = 5s;

/// An end that looks ten times a second at a connection, with a clock of its own.
class Looker {
 public:
  explicit Looker(std::chrono::milliseconds limit = kLimit) : limit_(limit) {}
  /// Looks once, after `step`.
  bool look(std::chrono::milliseconds step = kStep) {
    now_ += step;
    return silence.lasts(limit_, now_, octets);
  }
  /// How many looks find that the silence has not lasted long enough, before one that does.
  int patient_looks() {
    int looks = 0;
    while (!look()) ++looks;
    return looks;
  }

  Silence silence;
  std::uint64_t octets = 0;

 private:
  std::chrono::milliseconds limit_;
  Silence::Clock::time_point now_ = Silence::Clock::time_point(1000h);
};

// The first look only says when the silence began.
constexpr int kLooks = kLimit / kStep;

TEST(Silence, LastsWhenNothingMovesForTheLimit) { EXPECT_EQ(Looker().patient_looks(), kLooks); }

TEST(Silence, IsEndedByOneOctet) {
  Looker looker;
  for (int i = 0; i < 10 * kLooks; ++i) {
    if (i % (kLooks - 1) == 0) ++looker.octets;
    ASSERT_FALSE(looker.look()) << i;
  }
}

TEST(Silence, IsEndedByAnEvent) {
  Looker looker;
  for (int i = 0; i < 10 * kLooks; ++i) {
    if (i % (kLooks - 1) == 0) looker.silence.end();
    ASSERT_FALSE(looker.look()) << i;
  }
}

TEST(Silence, IsMadeOneSecondLongerByAJumpOfTheClockBetweenAnyTwoLooks) {
  constexpr int kLooksOfASecond = 1s / kStep;
  for (const std::chrono::milliseconds jump : {11'000ms, 3'600'000ms}) {
    for (int at = 0; at < kLooks - kLooksOfASecond; ++at) {
      Looker looker;
      ASSERT_FALSE(looker.look());
      for (int i = 0; i < at; ++i) ASSERT_FALSE(looker.look());
      ASSERT_FALSE(looker.look(jump)) << at;
      EXPECT_EQ(looker.patient_looks(), kLooks - at - kLooksOfASecond - 1);
    }
  }
}

TEST(Silence, LastsInTheEndThoughEveryLookComesLate) {
  Looker looker;
  int looks = 1;
  while (!looker.look(11s)) ++looks;
  EXPECT_EQ(looks, 1 + kLimit / 1s);
}

TEST(Silence, IsNotMadeLongByAClockThatGoesBack) {
  Looker looker;
  for (int i = 0; i < kLooks; ++i) ASSERT_FALSE(looker.look(i % 2 == 0 ? -1h : 1ms));
}

TEST(Silence, OfAShortLimitTakesSeveralLooks) {
  Looker looker(100ms);
  EXPECT_FALSE(looker.look());
  EXPECT_FALSE(looker.look(1h));
  EXPECT_FALSE(looker.look(1h));
}

}  // namespace
}  // namespace iwarp::cli::file_service
