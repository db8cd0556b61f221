#include <gtest/gtest.h>

#include "support/sanitizers.hpp"
#include "verbs/changing/exchange.hpp"

// A program may change what it is sending, as one that migrates a running guest does: the peer gets
// old or new octets, and the connection goes on. scripts/soak changing does a million.
namespace iwarp::verbs::test {
namespace {

constexpr std::uint64_t kOperations = iwarp::test::kSanitizer ? 300 : 2000;

void expect_old_or_new(const ConnectOptions& connect) {
  const ChangingTally tally = exchange_changing({.operations = kOperations, .connect = connect});
  EXPECT_EQ(tally.violation.value_or(""), "");
  EXPECT_EQ(tally.operations, kOperations);
  EXPECT_GT(tally.mixed, 0U) << "the buffers did not change while they were sent";
}

TEST(ChangingBuffers, ArriveOldOrNew) { expect_old_or_new({}); }

TEST(ChangingBuffers, ArriveOldOrNewBetweenMarkers) {
  ConnectOptions connect;
  connect.want_markers = true;
  expect_old_or_new(connect);
}

TEST(ChangingBuffers, ArriveOldOrNewWithoutCrc) {
  ConnectOptions connect;
  connect.require_crc = false;
  expect_old_or_new(connect);
}

}  // namespace
}  // namespace iwarp::verbs::test
