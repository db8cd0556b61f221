// What every device promises of the octets of a stream in RDMA mode.
#include <algorithm>
#include <array>

#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class StreamContract : public Contract {};
IWARP_ON_EVERY_DEVICE(StreamContract);

TEST_P(StreamContract, HandOverLendsFirstWhatHadBeenReadAlready) {
  const auto sent = pattern(50);
  std::vector<std::byte> head(20);
  const Connections two = connect();
  Outcome written;
  Outcome read;
  two.client->async_write(sent, written.transfer());
  two.server->async_read(head, read.transfer());
  ASSERT_TRUE(run_until([&] { return written.calls + read.calls == 2; }));
  // Suppose that 12 of the 20 belonged to streaming mode.
  const auto stream = two.server->hand_over(ConstBytes(head).subspan(12));
  std::fill(head.begin(), head.end(), std::byte{0xEE});
  const auto got = receive(*stream, 38);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin() + 12, sent.end()));
}

TEST_P(StreamContract, WhatHadBeenReadIsLentInPiecesThatFitTheScratch) {
  const auto already = pattern(2500);
  const Connections two = connect();
  const auto stream = two.server->hand_over(already);
  EXPECT_EQ(receive(*stream, 2500), already);
  std::vector<std::byte> more;
  EXPECT_EQ(receive_into(*stream, more), IoStatus::kWouldBlock);
}

TEST_P(StreamContract, HandOverKeepsTheEndpoints) {
  const Connections two = connect();
  const Endpoint local = two.client->local();
  const Endpoint remote = two.client->remote();
  const auto stream = two.client->hand_over({});
  EXPECT_EQ(stream->local(), local);
  EXPECT_EQ(stream->remote(), remote);
  EXPECT_EQ(two.client->hand_over({}), nullptr) << "handed over already";
}

TEST_P(StreamContract, AStreamOutlivesItsConnection) {
  const auto sent = pattern(100);
  const Streams two = connect_streams();  // the connections are gone
  EXPECT_EQ(transfer(*two.client, *two.server, sent), sent);
}

TEST_P(StreamContract, CarriesManyOctetsBothWays) {
  const auto sent = pattern(3U << 20U, 1);
  const auto back = pattern(300'000, 2);
  const Streams two = connect_streams();
  EXPECT_TRUE(transfer(*two.client, *two.server, sent) == sent);
  EXPECT_TRUE(transfer(*two.server, *two.client, back) == back);
}

TEST_P(StreamContract, AnIdleStreamWouldBlock) {
  const Streams two = connect_streams();
  std::vector<std::byte> got;
  EXPECT_EQ(receive_into(*two.client, got), IoStatus::kWouldBlock);
  EXPECT_EQ(receive_into(*two.server, got), IoStatus::kWouldBlock);
}

TEST_P(StreamContract, WhatIsLentCanBeConsumedInPiecesAndStaysUntilThen) {
  const auto sent = pattern(600);
  const Streams two = connect_streams();
  send_all(*two.client, sent);
  std::vector<std::byte> got;
  std::array<std::byte, 700> scratch;
  ASSERT_TRUE(run_until([&] {
    const Received received = two.server->receive(scratch);
    MutableBytes rest = received.data;
    while (!rest.empty()) {
      harness_->settle();
      const std::size_t n = std::min<std::size_t>(rest.size(), 7);
      got.insert(got.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(n));
      std::fill_n(rest.begin(), n, std::byte{0});  // what is lent may be changed
      rest = rest.subspan(n);
      two.server->consume(n);
    }
    return got.size() == sent.size();
  }));
  EXPECT_EQ(got, sent);
}

TEST_P(StreamContract, AFullStreamWouldBlockAndGoesOnOnceItIsDrained) {
  const auto sent = pattern(8U << 20U);
  const Streams two = connect_streams();
  std::size_t accepted = 0;
  std::size_t before = 0;
  do {
    before = accepted;
    accepted += fill(*two.client, ConstBytes(sent).subspan(accepted));
    harness_->settle();
  } while (accepted != before);
  ASSERT_GT(accepted, 0U);
  ASSERT_LT(accepted + 100'000, sent.size()) << "never filled up";
  const std::size_t limit = accepted + 100'000;
  std::vector<std::byte> got;
  ASSERT_TRUE(run_until([&] {
    accepted += send(*two.client, ConstBytes(sent).first(limit).subspan(accepted));
    receive_into(*two.server, got);
    return got.size() == limit;
  }));
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
}

TEST_P(StreamContract, OfferingNothingIsNoError) {
  const Streams two = connect_streams();
  const Sent none = two.client->send({});
  EXPECT_EQ(none.status, IoStatus::kOk);
  EXPECT_EQ(none.accepted, 0U);
  const std::array<iovec, 3> empty{};
  EXPECT_EQ(two.client->send(empty).status, IoStatus::kOk);
}

TEST_P(StreamContract, GathersAnyNumberOfPiecesEvenEmptyOnes) {
  const auto sent = pattern(9000);
  const Streams two = connect_streams();
  std::vector<iovec> pieces(2000);  // many more empty ones than one system call takes
  for (std::size_t i = 0; i < sent.size(); i += 3) {
    pieces.push_back({const_cast<std::byte*>(sent.data() + i), 3});
    pieces.push_back({nullptr, 0});
  }
  std::vector<std::byte> got;
  std::span<iovec> rest(pieces);
  ASSERT_TRUE(run_until([&] {
    std::size_t accepted = two.client->send(rest).accepted;
    while (!rest.empty() && accepted >= rest.front().iov_len) {
      accepted -= rest.front().iov_len;
      rest = rest.subspan(1);
    }
    if (accepted != 0) {  // the cut is within a piece
      rest.front().iov_base = static_cast<std::byte*>(rest.front().iov_base) + accepted;
      rest.front().iov_len -= accepted;
    }
    receive_into(*two.server, got);
    return got.size() == sent.size();
  }));
  EXPECT_EQ(got, sent);
}

TEST_P(StreamContract, ReleasesInOrderAndNeverMoreThanItAccepted) {
  const auto before = pattern(10);
  const auto sent = pattern(200'000);
  const Connections connections = connect();
  Outcome written;
  connections.client->async_write(before, written.transfer());
  ASSERT_TRUE(run_until([&] { return written.calls == 1; }));
  const auto client = connections.client->hand_over({});
  const auto server = connections.server->hand_over({});
  EXPECT_EQ(client->released(), 0U) << "counts from the hand-over";
  std::vector<std::byte> got;
  std::uint64_t accepted = 0;
  std::uint64_t released = 0;
  ASSERT_TRUE(run_until([&] {
    accepted += send(*client, ConstBytes(sent).subspan(static_cast<std::size_t>(accepted)));
    EXPECT_GE(client->released(), released);
    released = client->released();
    EXPECT_LE(released, accepted);
    receive_into(*server, got);
    return released == sent.size();
  }));
  EXPECT_EQ(receive(*server, sent.size() + before.size() - got.size()).size() + got.size(),
            sent.size() + before.size());
}

TEST_P(StreamContract, MemoryMayBeChangedOnceItIsReleased) {
  std::vector<std::byte> memory(500);
  const auto sent = pattern(5000);
  const Streams two = connect_streams();
  std::vector<std::byte> got;
  for (std::size_t done = 0; done < sent.size(); done += memory.size()) {
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(done), memory.size(), memory.begin());
    send_all(*two.client, memory);
    ASSERT_TRUE(run_until([&] {
      receive_into(*two.server, got);
      return two.client->released() == done + memory.size();
    }));
    std::fill(memory.begin(), memory.end(), std::byte{0xEE});
  }
  const auto rest = receive(*two.server, sent.size() - got.size());
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_EQ(got, sent);
}

TEST_P(StreamContract, TellsAnEffectiveMaximumSegmentSize) {
  const Streams two = connect_streams();
  EXPECT_GE(two.client->emss(), 536U);
  EXPECT_LE(two.client->emss(), 65495U);
}

TEST_P(StreamContract, AStreamHasADescriptorOrNone) {
  const Streams two = connect_streams();
  EXPECT_EQ(two.client->descriptor() == -1, simulated());
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
