#include <gtest/gtest.h>

#include "rdmap/loopback_world.hpp"

namespace iwarp::test {
namespace {

void expect_done(const Side& side) {
  EXPECT_EQ(side.endpoint.requests.head(), side.endpoint.requests.tail());
  EXPECT_EQ(side.endpoint.responses.head(), side.endpoint.responses.tail());
  EXPECT_EQ(side.endpoint.reads.due(), nullptr);
  expect_landed(side);
}

// Random operations both ways, in random segments, planned and taken back at random: every octet
// ends where it belongs, every message is delivered once and in order.
TEST(Loopback, BringsEveryOctetWhereItBelongs) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.run(world.random.between(1, 25));
    for (const auto& side : world.sides) expect_done(*side);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace iwarp::test
