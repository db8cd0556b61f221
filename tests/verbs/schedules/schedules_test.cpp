#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <sstream>

#include "support/sanitizers.hpp"
#include "verbs/schedules/schedule.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

constexpr std::uint64_t kSchedules = iwarp::test::kSanitizer ? 2'000 : 20'000;

class Schedules : public testing::Test {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }
  void TearDown() override { spdlog::set_level(spdlog::level::info); }
};

// scripts/soak runs a million.
TEST_F(Schedules, ViolateNothing) {
  std::ostringstream report;
  EXPECT_TRUE(run_schedules(1, kSchedules, 1, report)) << report.str();
}

TEST_F(Schedules, AreTheSameForTheSameSeed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::ostringstream once;
    std::ostringstream again;
    run_schedule(seed, &once);
    run_schedule(seed, &again);
    ASSERT_EQ(once.str(), again.str()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest::schedules
