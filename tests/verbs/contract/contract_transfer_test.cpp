// What every provider promises of the data that it moves, and of the completions.
#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

using WrIds = std::vector<std::uint64_t>;

class TransferContract : public ConnectedContract {
 protected:
  void TearDown() override { EXPECT_TRUE(client.intact() && server.intact()); }

  [[nodiscard]] bool until_received(std::size_t count) {
    return until([&] { return server.received.size() >= count; });
  }
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all{1, 4096, std::size_t{1} << 20U};
    if (can(Capability::kEmptyRegions)) all.push_back(0);
    return all;
  }
};
IWARP_IN_EVERY_WORLD(TransferContract);

TEST_P(TransferContract, SendsOfEachSizeArrive) {
  for (const std::size_t size : sizes()) {
    const Bytes content = pattern(size, size);
    const Sge gather = client.buffer(content).sge();
    const Buffer& sink = server.buffer(size + 3);
    const Sge scatter = sink.sge();
    const std::size_t before = server.received.size();
    post(right, RecvWr{size, {&scatter, 1}});
    const Completion sent = run(left, send_of(size + 1, {&gather, 1}));
    EXPECT_EQ(sent.status, Status::kSuccess);
    EXPECT_EQ(sent.wr_id, size + 1);
    EXPECT_EQ(sent.opcode, CompletionOpcode::kSend);
    ASSERT_TRUE(until_received(before + 1)) << size;
    const Completion& received = server.received[before];
    EXPECT_EQ(received.status, Status::kSuccess);
    EXPECT_EQ(received.wr_id, size);
    EXPECT_EQ(received.opcode, CompletionOpcode::kReceive);
    EXPECT_EQ(received.byte_length, size);
    EXPECT_TRUE(sink.content(0, size) == content) << size;
    EXPECT_EQ(sink.content(size, 3), Bytes(3)) << "behind the message";
  }
}

TEST_P(TransferContract, WritesOfEachSizeArrive) {
  for (const std::size_t size : sizes()) {
    const Bytes content = pattern(size, size);
    const Sge gather = client.buffer(content).sge();
    const Buffer& target = server.buffer(size + 5);
    const Completion written = run(left, write_of(size, {&gather, 1}, target, 2));
    EXPECT_EQ(written.status, Status::kSuccess);
    EXPECT_EQ(written.opcode, CompletionOpcode::kWrite);
    expect_service(left, right);  // its delivery is that of the Write before it
    EXPECT_TRUE(target.content(2, size) == content) << size;
    EXPECT_EQ(target.content(0, 2), Bytes(2));
    EXPECT_EQ(target.content(size + 2, 3), Bytes(3));
  }
}

TEST_P(TransferContract, ReadsOfEachSizeBringTheData) {
  for (const std::size_t size : sizes()) {
    const Bytes content = pattern(size + 5, size);
    const Buffer& source = server.buffer(content);
    const Buffer& sink = client.buffer(size + 5);
    const Sge scatter = sink.sge(1, size);
    const Completion read = run(left, read_of(size, {&scatter, 1}, source, 2));
    EXPECT_EQ(read.status, Status::kSuccess);
    EXPECT_EQ(read.opcode, CompletionOpcode::kRead);
    EXPECT_EQ(read.byte_length, size);
    const auto wanted = content.begin() + 2;
    EXPECT_TRUE(sink.content(1, size) == Bytes(wanted, wanted + static_cast<std::ptrdiff_t>(size)))
        << size;
    EXPECT_EQ(sink.content(0, 1), Bytes(1));
    EXPECT_EQ(sink.content(size + 1, 4), Bytes(4));
  }
}

TEST_P(TransferContract, AReadNeedsNoRightOfTheSinkButThatWhichTheDeviceNames) {
  const Bytes content = pattern(100);
  const Buffer& source = server.buffer(content, Access::kRemoteRead);
  const Access wanted = client.device.attributes().read_sink;
  EXPECT_TRUE(has(wanted, Access::kLocalWrite));
  const Buffer& sink = client.buffer(content.size(), wanted);
  const Sge scatter = sink.sge();
  EXPECT_EQ(run(left, read_of(1, {&scatter, 1}, source)).status, Status::kSuccess);
  EXPECT_EQ(sink.content(), content);
}

TEST_P(TransferContract, SourcesNeedNoRight) {
  const Bytes content = pattern(100);
  const Sge gather = client.buffer(content, Access::kNone).sge();
  const Buffer& target = server.buffer(content.size(), kWritable);
  EXPECT_EQ(run(left, write_of(1, {&gather, 1}, target)).status, Status::kSuccess);
  expect_service(left, right);
  EXPECT_EQ(target.content(), content);
}

TEST_P(TransferContract, ListsAreGatheredAndScatteredInOrder) {
  const Bytes content = pattern(3000);
  const Buffer& source = client.buffer(content);
  const Buffer& other = client.buffer(content);
  const Buffer& sink = server.buffer(content.size());
  const Sge gather[] = {source.sge(2000, 1000), other.sge(0, 1), source.sge(1, 1999)};
  const Sge scatter[] = {sink.sge(1500, 1500), sink.sge(0, 1500)};
  const std::span pieces =
      std::span(gather).first(std::min<std::size_t>(3, left.qp->capacity().max_send_sge));
  ASSERT_EQ(pieces.size(), 3U) << "the default";
  post(right, RecvWr{1, scatter});
  EXPECT_EQ(run(left, send_of(2, pieces)).status, Status::kSuccess);
  ASSERT_TRUE(until_received(1));
  EXPECT_EQ(server.received[0].byte_length, 3000U);
  Bytes wanted(content.begin() + 2000, content.end());
  wanted.insert(wanted.end(), content.begin(), content.begin() + 2000);
  Bytes got = sink.content(1500, 1500);
  const Bytes second = sink.content(0, 1500);
  got.insert(got.end(), second.begin(), second.end());
  EXPECT_TRUE(got == wanted);
}

TEST_P(TransferContract, InlineDataIsTakenAtThePost) {
  const std::uint32_t size = std::min(left.qp->capacity().max_inline, 64U);
  if (size == 0) GTEST_SKIP() << "the device takes nothing inline";
  const Bytes content = pattern(size);
  Bytes unregistered = content;
  const Sge gather{unregistered.data(), size, Stag{}};
  const Buffer& sink = server.buffer(size);
  const Sge scatter = sink.sge();
  post(right, RecvWr{1, {&scatter, 1}});
  SendWr request = send_of(2, {&gather, 1});
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  post(left, request);
  std::fill(unregistered.begin(), unregistered.end(), std::byte{0xEE});
  ASSERT_TRUE(until_received(1));
  EXPECT_EQ(sink.content(), content);
}

TEST_P(TransferContract, AFencedSendWaitsForTheReadsBeforeIt) {
  const Bytes content = pattern(100'000);
  const Buffer& source = server.buffer(content);
  const Buffer& between = client.buffer(content.size());
  const Buffer& sink = server.buffer(content.size());
  const Sge relay = between.sge();
  const Sge scatter = sink.sge();
  post(right, RecvWr{1, {&scatter, 1}});
  SendWr fenced = send_of(3, {&relay, 1});
  fenced.flags = SendFlags::kSignaled | SendFlags::kFence;
  const SendWr requests[] = {read_of(2, {&relay, 1}, source), fenced};
  ASSERT_TRUE(left.qp->post_send(requests));
  ASSERT_TRUE(until_received(1));
  EXPECT_TRUE(sink.content() == content);
}

TEST_P(TransferContract, ASendWithInvalidateNamesWhatItEnds) {
  Bytes memory(64);
  const Access asked = kReachable | Access::kRemoteInvalidate;
  if (!can(Capability::kRemoteInvalidate)) {
    EXPECT_EQ(refusal(server.pd->register_memory(memory, asked)), std::errc::not_supported);
    return;
  }
  Buffer& ending = server.buffer(64, asked);
  post(right, RecvWr{1, {}});
  SendWr request = send_of(2, {});
  request.opcode = Opcode::kSendInvalidate;
  request.invalidate_stag = ending.key();
  EXPECT_EQ(run(left, request).status, Status::kSuccess);
  ASSERT_TRUE(until_received(1));
  EXPECT_EQ(server.received[0].status, Status::kSuccess);
  ASSERT_TRUE(has(server.received[0].flags, CompletionFlags::kInvalidated));
  EXPECT_EQ(server.received[0].invalidated, ending.key());
}

TEST_P(TransferContract, ASolicitedSendShowsAsSuch) {
  IWARP_NEEDS(Capability::kSolicitedShown);
  post(right, RecvWr{1, {}});
  post(right, RecvWr{2, {}});
  SendWr request = send_of(3, {});
  request.flags = SendFlags::kSignaled | SendFlags::kSolicited;
  const SendWr requests[] = {request, send_of(4, {})};
  ASSERT_TRUE(left.qp->post_send(requests));
  ASSERT_TRUE(until_received(2));
  EXPECT_TRUE(has(server.received[0].flags, CompletionFlags::kSolicited));
  EXPECT_FALSE(has(server.received[1].flags, CompletionFlags::kSolicited));
}

TEST_P(TransferContract, CompletionsComeInTheOrderOfThePosts) {
  const Buffer& there = server.buffer(100);
  const Sge here = client.buffer(100).sge();
  std::vector<SendWr> requests;
  for (std::uint64_t id = 0; id < 30; id += 3) {
    post(right, RecvWr{(std::uint64_t{1} << 63U) + id, {}});
    requests.push_back(read_of(id, {&here, 1}, there));
    requests.push_back(send_of(id + 1, {}));
    requests.push_back(write_of(id + 2, {&here, 1}, there));
  }
  ASSERT_TRUE(left.qp->post_send(requests));
  ASSERT_TRUE(until([&] { return client.sent.size() == 30 && server.received.size() == 10; }));
  constexpr CompletionOpcode kOpcodes[] = {CompletionOpcode::kRead, CompletionOpcode::kSend,
                                           CompletionOpcode::kWrite};
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(client.sent[i].wr_id, i);
    EXPECT_EQ(client.sent[i].status, Status::kSuccess);
    EXPECT_EQ(client.sent[i].opcode, kOpcodes[i % 3]);
    EXPECT_EQ(client.sent[i].qp_number, left.qp->number());
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(server.received[i].wr_id, (std::uint64_t{1} << 63U) + 3 * i);
    EXPECT_EQ(server.received[i].qp_number, right.qp->number());
  }
}

TEST_P(TransferContract, TheMemoryOfASilentWriteIsTheProgramsOnceTheNextIsDone) {
  constexpr std::size_t kSize = 65536, kRounds = 32;
  std::vector<Bytes> contents;
  for (std::size_t round = 0; round != kRounds; ++round) contents.push_back(pattern(kSize, round));
  const Buffer& target = server.buffer(kSize * kRounds);
  Buffer& source = client.buffer(kSize);
  const Sge gather = source.sge(), one = source.sge(0, 1);
  for (std::size_t round = 0; round != kRounds; ++round) {
    source.fill(contents[round]);  // as soon as possible behind the completion
    SendWr silent = write_of(1, {&gather, 1}, target, round * kSize);
    silent.flags = SendFlags::kNone;
    post(left, silent);
    ASSERT_EQ(run(left, write_of(2, {&one, 1}, target, round * kSize)).status, Status::kSuccess);
  }
  source.fill(Bytes(kSize));
  expect_service(left, right);
  for (std::size_t round = 0; round != kRounds; ++round) {
    EXPECT_TRUE(target.content(round * kSize, kSize) == contents[round]) << round;
  }
}

TEST_P(TransferContract, UnsignaledRequestsStaySilent) {
  post(right, RecvWr{1, {}});
  post(right, RecvWr{2, {}});
  SendWr silent = send_of(3, {});
  silent.flags = SendFlags::kNone;
  post(left, silent);
  post(left, send_of(4, {}));
  ASSERT_TRUE(until([&] { return !client.sent.empty() && server.received.size() == 2; }));
  EXPECT_EQ(ids(client.sent), WrIds{4});
}

TEST_P(TransferContract, EachMessageTakesTheNextReceive) {
  constexpr std::size_t kMessages = 100;
  const Bytes content = pattern(kMessages);
  const Buffer& source = client.buffer(content);
  const Buffer& sink = server.buffer(kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) {
    const Sge scatter = sink.sge(i, 1);
    post(right, RecvWr{i, {&scatter, 1}});
  }
  for (std::size_t i = 0; i < kMessages; ++i) {
    const Sge gather = source.sge(i, 1);
    post(left, send_of(i, {&gather, 1}));
  }
  ASSERT_TRUE(until_received(kMessages));
  EXPECT_EQ(sink.content(), content);
  for (std::size_t i = 0; i < kMessages; ++i) EXPECT_EQ(server.received[i].wr_id, i);
}

TEST_P(TransferContract, BothEndsSendAtATime) {
  const Bytes there = pattern(200'000, 1);
  const Bytes back = pattern(200'000, 2);
  const Buffer& left_sink = client.buffer(back.size());
  const Buffer& right_sink = server.buffer(there.size());
  const Sge left_gather = client.buffer(there).sge();
  const Sge right_gather = server.buffer(back).sge();
  const Sge left_scatter = left_sink.sge();
  const Sge right_scatter = right_sink.sge();
  post(left, RecvWr{1, {&left_scatter, 1}});
  post(right, RecvWr{1, {&right_scatter, 1}});
  post(left, send_of(2, {&left_gather, 1}));
  post(right, send_of(2, {&right_gather, 1}));
  ASSERT_TRUE(until([&] { return !client.received.empty() && !server.received.empty(); }));
  EXPECT_TRUE(left_sink.content() == back);
  EXPECT_TRUE(right_sink.content() == there);
}

class TransferBesidesContract : public Contract {};
IWARP_IN_EVERY_WORLD(TransferBesidesContract);

TEST_P(TransferBesidesContract, AllAreReportedWhereTheQueuePairSaysSo) {
  End left(client, {.signaling = Signaling::kAll});
  End right(server);
  ASSERT_TRUE(connect(left, right));
  post(right, RecvWr{1, {}});
  SendWr silent = send_of(2, {});
  silent.flags = SendFlags::kNone;
  post(left, silent);
  ASSERT_TRUE(until([&] { return !client.sent.empty(); }));
  EXPECT_EQ(ids(client.sent), WrIds{2});
}

TEST_P(TransferBesidesContract, TwoConnectionsDoNotMix) {
  End left1(client);
  End left2(client);
  End right1(server);
  End right2(server);
  ASSERT_TRUE(connect(left1, right1) && connect(left2, right2));
  const Bytes one = pattern(50'000, 1);
  const Bytes two = pattern(50'000, 2);
  const Buffer& sink1 = server.buffer(one.size());
  const Buffer& sink2 = server.buffer(two.size());
  const Sge scatter1 = sink1.sge();
  const Sge scatter2 = sink2.sge();
  const Sge gather1 = client.buffer(one).sge();
  const Sge gather2 = client.buffer(two).sge();
  post(right2, RecvWr{2, {&scatter2, 1}});
  post(right1, RecvWr{1, {&scatter1, 1}});
  post(left1, send_of(3, {&gather1, 1}));
  post(left2, send_of(4, {&gather2, 1}));
  ASSERT_TRUE(until([&] { return server.received.size() == 2 && client.sent.size() == 2; }));
  for (const Completion& received : server.received) {
    EXPECT_EQ(received.qp_number, (received.wr_id == 1 ? right1 : right2).qp->number());
  }
  for (const Completion& sent : client.sent) {
    EXPECT_EQ(sent.qp_number, (sent.wr_id == 3 ? left1 : left2).qp->number());
  }
  EXPECT_TRUE(sink1.content() == one);
  EXPECT_TRUE(sink2.content() == two);
}

}  // namespace
}  // namespace iwarp::verbs::contract
