#include "tcp_offload/capture_reader.hpp"
#include "verbs/loopback_support.hpp"

// Queue pairs that record their connection.
namespace iwarp::verbs::test {
namespace {

using tcp_offload::test::carried;
using tcp_offload::test::packets_of;
using tcp_offload::test::read_file;
using tcp_offload::test::ScratchDirectory;

QpOptions recording_into(const ScratchDirectory& directory) {
  QpOptions options;
  options.capture = directory.path();
  return options;
}

std::string text_of(const std::vector<std::byte>& octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

void exchange_a_send(Side& client, QueuePair& client_qp, Side& server, QueuePair& server_qp) {
  Buffer source(client.pd, 1000, Access::kNone, std::byte{'s'});
  Buffer sink(server.pd, 1000, Access::kLocalWrite);
  const Sge from = source.sge();
  const Sge to = sink.sge();
  ASSERT_TRUE(server_qp.post_receive({.wr_id = 1, .sges = {&to, 1}}));
  ASSERT_TRUE(client_qp.post_send(send_of(2, {&from, 1})));
  ASSERT_TRUE(server.cq.wait(kPatience));
  client_qp.disconnect();
  EXPECT_TRUE(client_qp.wait_disconnected(kPatience) && server_qp.wait_disconnected(kPatience));
}

TEST(LoopbackCapture, BothRolesRecordTheirConnectionFromTheStartUpOn) {
  const ScratchDirectory directory;
  {
    LoopbackPair pair({}, {}, recording_into(directory));
    exchange_a_send(pair.client, pair.client_qp, pair.server, pair.server_qp);
  }
  // The recorder writes on a thread of its own.
  ASSERT_TRUE(eventually([&] { return directory.files().size() == 2; }));
  const auto files = directory.files();
  auto one = packets_of(read_file(files[0]));
  auto other = packets_of(read_file(files[1]));
  if (!one.front().outbound) one.swap(other);
  EXPECT_TRUE(one.front().outbound && !other.front().outbound);
  const auto sent = carried(one, true);
  const auto received = carried(one, false);
  EXPECT_EQ(carried(other, false), sent);
  EXPECT_EQ(carried(other, true), received);
  EXPECT_TRUE(text_of(sent).starts_with("MPA ID Req Frame"));
  EXPECT_TRUE(text_of(received).starts_with("MPA ID Rep Frame"));
  EXPECT_NE(text_of(sent).find(std::string(1000, 's')), std::string::npos);
}

TEST(LoopbackCapture, RecordsNothingUnlessAsked) {
  const ScratchDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  {
    LoopbackPair pair;
    exchange_a_send(pair.client, pair.client_qp, pair.server, pair.server_qp);
  }
  std::filesystem::current_path(before);
  EXPECT_TRUE(directory.files().empty());
}

TEST(LoopbackCapture, DirectoryThatIsNotThereDoesNotHoldAConnectionUp) {
  QpOptions options;
  options.capture = "/nonexistent/directory";
  LoopbackPair pair({}, {}, options);
  exchange_a_send(pair.client, pair.client_qp, pair.server, pair.server_qp);
}

}  // namespace
}  // namespace iwarp::verbs::test
