#include "verbs/sim_random.hpp"

namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Random;

class SimTraffic : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SimTraffic, testing::Range<std::uint64_t>(0, 8));

void expect_graceful_end(const SimEnd& end) {
  EXPECT_EQ(end.count(ConnectionEvent::Kind::kEstablished), 1U);
  expect_graceful(end);
  EXPECT_EQ(end.host->tails, 0);
}

// Everything goes both ways, then one side ends it.
void run_case(std::uint64_t seed) {
  Random random(seed);
  const PairOptions options = random_pair(random);
  SimPair pair(options);
  BothWays traffic(pair, random, random_traffic(random, options));
  const bool done = pair.run_until([&] {
    traffic.post_some(random);
    return traffic.done();
  });
  ASSERT_TRUE(done) << "stuck";
  (random.one_in(2) ? pair.client : pair.server).qp->disconnect();
  ASSERT_TRUE(pair.run_until_closed()) << "does not end";
  pair.turn();
  traffic.there.check_success();
  traffic.back.check_success();
  expect_graceful_end(pair.client);
  expect_graceful_end(pair.server);
}

TEST_P(SimTraffic, SurvivesAnySegmentationAndAnyMode) {
  constexpr std::uint64_t kCases = 75 * kThoroughness;
  for (std::uint64_t i = 0; i < kCases && !HasFailure(); ++i) {
    const std::uint64_t seed = GetParam() * kCases + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_case(seed);
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
