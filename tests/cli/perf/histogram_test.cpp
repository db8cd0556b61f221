#include "perf/measured/histogram.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli::perf {
namespace {

using std::chrono::nanoseconds;

TEST(PerfHistogram, OfNothingIsZero) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.minimum(), 0);
  EXPECT_EQ(empty.maximum(), 0);
  EXPECT_EQ(empty.mean(), 0);
  EXPECT_EQ(empty.quantile(0.5), 0);
}

TEST(PerfHistogram, KeepsMinimumMaximumAndMeanExactly) {
  Histogram histogram;
  for (const std::int64_t value :
       {std::int64_t{1'000'003}, std::int64_t{7}, std::int64_t{5'000'000'017}})
    histogram.add(nanoseconds(value));
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.minimum(), 7);
  EXPECT_EQ(histogram.maximum(), 5'000'000'017);
  EXPECT_NEAR(histogram.mean(), (1'000'003.0 + 7 + 5'000'000'017.0) / 3, 1);
}

TEST(PerfHistogram, QuantilesAreRightToFourTenthsOfAPercent) {
  Histogram histogram;
  for (int value = 1; value <= 1'000'000; ++value) histogram.add(nanoseconds(value));
  for (const double fraction : {0.0001, 0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double expected = fraction * 1e6;
    EXPECT_NEAR(histogram.quantile(fraction), expected, expected * 0.004 + 0.5) << fraction;
  }
  EXPECT_EQ(histogram.quantile(0), 1);
  EXPECT_NEAR(histogram.quantile(1), 1e6, 4000);
}

TEST(PerfHistogram, TakesDurationsOutOfItsRange) {
  Histogram histogram;
  histogram.add(nanoseconds(-5));
  histogram.add(std::chrono::hours(10));
  EXPECT_EQ(histogram.minimum(), 0);
  EXPECT_GT(histogram.maximum(), 1.8e12);
}

TEST(PerfHistogram, AddsUp) {
  Histogram low, high;
  for (int i = 0; i < 100; ++i) low.add(nanoseconds(10));
  for (int i = 0; i < 300; ++i) high.add(nanoseconds(200));
  low.add(high);
  EXPECT_EQ(low.count(), 400U);
  EXPECT_EQ(low.minimum(), 10);
  EXPECT_EQ(low.maximum(), 200);
  EXPECT_EQ(low.quantile(0.25), 10);
  EXPECT_EQ(low.quantile(0.26), 200);
}

}  // namespace
}  // namespace iwarp::cli::perf
