#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/log_lines.hpp"

namespace iwarp::process {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(LogLimit, WritesSoManyLinesInEachIntervalAndCountsTheOthers) {
  const iwarp::test::LogLines lines;
  LogLimit limit(2, 10s);
  const auto start = LogLimit::Clock::now();
  for (int i = 0; i < 5; ++i) limit.log(LogLevel::kWarn, std::to_string(i), start + i * 2s);
  EXPECT_THAT(lines.all(), ElementsAre("warning 0", "warning 1"));
  limit.log(LogLevel::kWarn, "later", start + 10s);
  limit.log(LogLevel::kWarn, "again", start + 19s);
  limit.log(LogLevel::kWarn, "too many", start + 19s);
  limit.log(LogLevel::kWarn, "last", start + 20s);
  EXPECT_THAT(lines.all(),
              ElementsAre("warning 0", "warning 1", "warning 3 lines like the next were left out",
                          "warning later", "warning again",
                          "warning 1 lines like the next were left out", "warning last"));
}

TEST(LogLimit, OfOneKindLeavesOtherKindsAlone) {
  const iwarp::test::LogLines lines;
  LogLimit one(1), other(1);
  for (int i = 0; i < 3; ++i) one.log(LogLevel::kWarn, "one");
  other.log(LogLevel::kDebug, "other");
  EXPECT_THAT(lines.all(), ElementsAre("warning one", "debug other"));
}

}  // namespace
}  // namespace iwarp::process
