#include "verbs/loopback_support.hpp"

namespace iwarp::verbs::test {
namespace {

TEST(LoopbackMaxFpdu, HasLimits) {
  Side side;
  for (const std::uint32_t octets : {1U, kLeastMaxFpdu - 1, kGreatestMaxFpdu + 1, 1U << 31U}) {
    QpOptions options;
    options.max_fpdu = octets;
    const auto made = side.pd.create_qp(side.cq, std::move(options));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, std::errc::invalid_argument);
    EXPECT_EQ(made.error().message, "queue pair: max_fpdu is " + std::to_string(octets) +
                                        " octets; 0, or 136 to 65536 can be had");
  }
  for (const std::uint32_t octets : {0U, kLeastMaxFpdu, kGreatestMaxFpdu}) {
    QpOptions options;
    options.max_fpdu = octets;
    EXPECT_TRUE(side.pd.create_qp(side.cq, std::move(options)));
  }
}

// Over kernel sockets, both ways, with and without CRCs and Markers.
TEST(LoopbackMaxFpdu, BringsEveryOctet) {
  constexpr std::size_t kSize = 1'000'000;
  for (const bool crc : {false, true}) {
    for (const bool markers : {false, true}) {
      ConnectOptions start;
      start.require_crc = crc;
      start.want_markers = markers;
      QpOptions options;
      options.max_fpdu = kGreatestMaxFpdu;
      LoopbackPair pair(start, start, options);
      Buffer source(pair.client.pd, kSize, Access::kRemoteRead);
      Buffer sink(pair.server.pd, kSize, Access::kLocalWrite | Access::kRemoteWrite);
      for (std::size_t i = 0; i < kSize; ++i)
        source.memory[i] = static_cast<std::byte>(i * 131 >> 3);
      const Sge from = source.sge();
      const Sge to = sink.sge();
      ASSERT_TRUE(pair.server_qp.post_receive({.wr_id = 1, .sges = {&to, 1}}));
      ASSERT_TRUE(pair.client_qp.post_send(send_of(2, {&from, 1})));
      ASSERT_EQ(poll_for(pair.server.cq, 1).size(), 1U);
      EXPECT_TRUE(sink.memory == source.memory);
      std::ranges::fill(sink.memory, std::byte{0});
      ASSERT_TRUE(pair.server_qp.post_send(read_of(3, {&to, 1}, source)));
      const auto read = poll_for(pair.server.cq, 1);
      ASSERT_EQ(read.size(), 1U);
      EXPECT_EQ(read[0].status, Status::kSuccess);
      EXPECT_TRUE(sink.memory == source.memory);
    }
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
