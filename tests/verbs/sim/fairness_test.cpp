#include "verbs/sim_harness.hpp"

// Queue pairs of one host take turns, however much one of them has to send.
namespace iwarp::verbs::simtest {
namespace {

TEST(Fairness, OneTurnSendsABoundedAmount) {
  PairOptions options;
  options.net.send_buffer = std::size_t{64} << 20U;
  options.net.receive_buffer = options.net.send_buffer;
  options.net.emss = 60000;
  SimPair pair(options);
  Region& source = pair.client.region(std::size_t{32} << 20U, Access::kLocalWrite);
  Region& target =
      pair.server.region(std::size_t{32} << 20U, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge all = source.sge();
  post(pair.client, write_of(1, {&all, 1}, target.key(), target.to(0)));
  const std::uint64_t first = pair.to_server().accepted();
  EXPECT_GT(first, std::uint64_t{1} << 20U);
  EXPECT_LT(first, std::uint64_t{8} << 20U) << "others are waiting for their turn";
  ASSERT_TRUE(pair.run_until([&] { return !pair.client.sent.empty(); }));
  EXPECT_EQ(statuses(pair.client.sent), std::vector{Status::kSuccess});
}

}  // namespace
}  // namespace iwarp::verbs::simtest
