#include <gmock/gmock.h>

#include <numeric>

#include "verbs/loopback_pair.hpp"

namespace iwarp::verbs::test {
namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = std::byte(static_cast<unsigned>(i * 7 + i / 251));
  return bytes;
}

class Loopback : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Loopback,
                         testing::Values(0, 1, 64, 1400, 4096, 65536, 1000000, 20000000));

TEST_P(Loopback, SendArrivesWhole) {
  LoopbackPair pair;
  auto source = pattern(GetParam());
  std::vector<std::byte> sink(GetParam() + 1, std::byte{0x5A});
  auto source_mr = must(pair.client.pd.register_memory(source, Access::kNone));
  auto sink_mr = must(pair.server.pd.register_memory(sink, Access::kLocalWrite));
  const Sge to = sink_mr.sge(0, static_cast<std::uint32_t>(GetParam()));
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{7, {&to, 1}}));
  const Sge from = source_mr.sge();
  ASSERT_TRUE(pair.client_qp.post_send(SendWr{.wr_id = 9, .sges = {&from, 1}}));
  std::optional<Completion> received;
  std::thread server([&] { received = pair.server.cq.wait(10s); });
  const auto sent = pair.client.cq.wait(10s);
  server.join();
  ASSERT_TRUE(sent && received);
  EXPECT_EQ(sent->status, Status::kSuccess);
  EXPECT_EQ(sent->wr_id, 9U);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_EQ(received->byte_length, GetParam());
  EXPECT_TRUE(std::equal(source.begin(), source.end(), sink.begin()));
  EXPECT_EQ(sink.back(), std::byte{0x5A});
}

TEST_P(Loopback, ReadFetchesWhole) {
  LoopbackPair pair;
  auto source = pattern(GetParam());
  std::vector<std::byte> sink(GetParam());
  auto source_mr = must(pair.server.pd.register_memory(source, Access::kRemoteRead));
  auto sink_mr = must(pair.client.pd.register_memory(sink, Access::kLocalWrite));
  const Sge to = sink_mr.sge();
  ASSERT_TRUE(pair.client_qp.post_send(SendWr{.wr_id = 3,
                                              .opcode = Opcode::kRead,
                                              .sges = {&to, 1},
                                              .remote_stag = source_mr.rkey(),
                                              .remote_offset = source_mr.remote().offset}));
  const auto done = pair.client.cq.wait(10s);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, Status::kSuccess);
  EXPECT_EQ(source, sink);
}

TEST_P(Loopback, WriteArrivesWholeBeforeTheSendBehindIt) {
  LoopbackPair pair;
  auto source = pattern(GetParam());
  std::vector<std::byte> sink(GetParam());
  auto source_mr = must(pair.client.pd.register_memory(source, Access::kNone));
  auto sink_mr =
      must(pair.server.pd.register_memory(sink, Access::kLocalWrite | Access::kRemoteWrite));
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  const Sge from = source_mr.sge();
  const SendWr list[] = {{.wr_id = 1,
                          .opcode = Opcode::kWrite,
                          .sges = {&from, 1},
                          .remote_stag = sink_mr.rkey(),
                          .remote_offset = sink_mr.remote().offset},
                         {.wr_id = 2}};
  ASSERT_TRUE(pair.client_qp.post_send(list));
  const auto received = pair.server.cq.wait(10s);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_EQ(source, sink);
  EXPECT_EQ(pair.client.cq.wait(10s)->wr_id, 1U);
  EXPECT_EQ(pair.client.cq.wait(10s)->wr_id, 2U);
}

TEST(LoopbackClose, DisconnectFlushesThePeersReceives) {
  LoopbackPair pair;
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{5, {}}));
  pair.client_qp.disconnect();
  const auto flushed = pair.server.cq.wait(10s);
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, Status::kFlushed);
  EXPECT_TRUE(pair.client_qp.wait_disconnected(10s));
  EXPECT_TRUE(pair.server_qp.wait_disconnected(10s));
}

TEST(LoopbackFault, WriteToAnUnknownStagTerminates) {
  LoopbackPair pair;
  auto source = pattern(64);
  auto source_mr = must(pair.client.pd.register_memory(source, Access::kNone));
  const Sge from = source_mr.sge();
  ASSERT_TRUE(pair.client_qp.post_send(
      SendWr{.opcode = Opcode::kWrite, .sges = {&from, 1}, .remote_stag = Stag{0x1234}}));
  EXPECT_TRUE(pair.client_qp.wait_disconnected(10s));
  ASSERT_TRUE(pair.client_qp.terminate_received());
  EXPECT_EQ(pair.client_qp.terminate_received()->layer, 1);
  EXPECT_EQ(pair.client_qp.terminate_received()->type, 1);
  EXPECT_EQ(pair.client_qp.terminate_received()->code, 0);
}

}  // namespace
}  // namespace iwarp::verbs::test
