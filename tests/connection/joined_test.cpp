#include <gtest/gtest.h>

#include "connection/joined_world.hpp"

namespace iwarp::test {
namespace {

void expect_done(const Side& side, Peer& end) {
  EXPECT_EQ(side.endpoint.requests.head(), side.endpoint.requests.tail());
  EXPECT_FALSE(end.core.outbound().has_more());
  EXPECT_EQ(end.core.inbound().kept(), 0U);
  expect_landed(side);
}

// The whole protocol without sockets and threads: random operations both ways, over streams that
// take and give octets in pieces of any size. Every octet ends where it belongs, every message is
// delivered once and in order, and what was offered comes again until it is accepted.
TEST(JoinedCores, BringEveryOctetWhereItBelongs) {
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    JoinedWorld world(seed);
    world.run(world.random.between(1, 25));
    for (const auto& side : world.sides) expect_done(*side, world.end(*side));
    const auto& a = world.end(*world.sides[0]).core;
    const auto& b = world.end(*world.sides[1]).core;
    EXPECT_EQ(a.outbound().counters().octets, b.inbound().counters().octets);
    EXPECT_EQ(b.outbound().counters().octets, a.inbound().counters().octets);
    EXPECT_EQ(a.outbound().counters().fpdus, b.inbound().counters().fpdus);
    EXPECT_EQ(b.outbound().counters().fpdus, a.inbound().counters().fpdus);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace iwarp::test
