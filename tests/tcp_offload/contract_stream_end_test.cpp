// What every device promises about how a stream ends.
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class StreamEndContract : public Contract {};
IWARP_ON_EVERY_DEVICE(StreamEndContract);

// Sends until the stream answers that it is lost.
Sent send_until_lost(Harness& harness, Stream& stream, ConstBytes bytes) {
  Sent sent;
  EXPECT_TRUE(harness.run_until([&] {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    sent = stream.send({&piece, 1});
    return sent.status == IoStatus::kLost;
  }));
  return sent;
}

TEST_P(StreamEndContract, FinFollowsEverythingAccepted) {
  const auto sent = pattern(20'000);
  const Streams two = connect_streams();
  std::vector<std::byte> got;
  std::size_t accepted = 0;
  ASSERT_TRUE(run_until([&] {
    if (accepted < sent.size()) {
      accepted += send(*two.client, ConstBytes(sent).subspan(accepted));
      if (accepted == sent.size()) two.client->shutdown_send();
    }
    return receive_into(*two.server, got) == IoStatus::kEndOfStream;
  }));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(receive_into(*two.server, got), IoStatus::kEndOfStream) << "and it stays so";
}

TEST_P(StreamEndContract, AHalfClosedStreamStillReceives) {
  const auto sent = pattern(5000);
  const Streams two = connect_streams();
  two.client->shutdown_send();
  two.client->shutdown_send();
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
  EXPECT_EQ(transfer(*two.server, *two.client, sent), sent);
  two.server->shutdown_send();
  EXPECT_EQ(receive_to_end(*two.client).status, IoStatus::kEndOfStream);
}

TEST_P(StreamEndContract, BothEndsMayCloseAtOnce) {
  const Streams two = connect_streams();
  two.client->shutdown_send();
  two.server->shutdown_send();
  harness_->settle();
  EXPECT_EQ(receive_to_end(*two.client).status, IoStatus::kEndOfStream);
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
}

TEST_P(StreamEndContract, NothingCanBeSentAfterTheShutdown) {
  const auto sent = pattern(1);
  const Streams two = connect_streams();
  two.client->shutdown_send();
  const iovec piece{const_cast<std::byte*>(sent.data()), 1};
  for (int i = 0; i < 2; ++i) {
    const Sent refused = two.client->send({&piece, 1});
    EXPECT_EQ(refused.status, IoStatus::kLost);
    EXPECT_EQ(refused.error, std::errc::broken_pipe);
  }
}

TEST_P(StreamEndContract, AbortResetsThePeer) {
  const auto sent = pattern(100);
  const Streams two = connect_streams();
  send_all(*two.server, sent);
  two.client->abort();
  two.client->abort();
  const Received received = receive_to_end(*two.server);
  EXPECT_EQ(received.status, IoStatus::kLost);
  EXPECT_EQ(received.error, std::errc::connection_reset);
  EXPECT_EQ(send_until_lost(*harness_, *two.server, sent).status, IoStatus::kLost);
  EXPECT_EQ(receive_to_end(*two.server).error, std::errc::connection_reset) << "and it stays so";
}

TEST_P(StreamEndContract, AnAbortedStreamAnswersThatItWasAborted) {
  const auto sent = pattern(100);
  const Streams two = connect_streams();
  send_all(*two.server, sent);
  ASSERT_EQ(receive(*two.client, 1).empty(), false);
  two.client->abort();
  for (int i = 0; i < 2; ++i) {
    std::byte scratch[10];
    const Received received = two.client->receive(scratch);
    EXPECT_EQ(received.status, IoStatus::kLost);
    EXPECT_EQ(received.error, std::errc::connection_aborted);
    const iovec piece{const_cast<std::byte*>(sent.data()), 1};
    const Sent refused = two.client->send({&piece, 1});
    EXPECT_EQ(refused.status, IoStatus::kLost);
    EXPECT_EQ(refused.error, std::errc::connection_aborted);
  }
  two.client->shutdown_send();
}

TEST_P(StreamEndContract, WhatIsLentStaysValidAcrossAnAbort) {
  const auto sent = pattern(100);
  const Streams two = connect_streams();
  send_all(*two.server, sent);
  std::byte scratch[200];
  Received received;
  ASSERT_TRUE(run_until([&] {
    received = two.client->receive(scratch);
    return received.status == IoStatus::kOk;
  }));
  two.client->abort();
  harness_->settle();
  EXPECT_EQ(received.data.front(), sent.front());
  two.client->consume(received.data.size());
}

TEST_P(StreamEndContract, AResetIsNeverTakenForAnEndEvenIfSendingNoticedItFirst) {
  const auto sent = pattern(10'000);
  const Streams two = connect_streams();
  two.client->abort();
  EXPECT_EQ(send_until_lost(*harness_, *two.server, sent).status, IoStatus::kLost);
  const Received received = receive_to_end(*two.server);
  EXPECT_EQ(received.status, IoStatus::kLost);
  EXPECT_TRUE(received.error);
}

TEST_P(StreamEndContract, AResetAfterTheShutdownIsNotTakenForAnEndEither) {
  const Streams two = connect_streams();
  two.server->shutdown_send();
  EXPECT_EQ(receive_to_end(*two.client).status, IoStatus::kEndOfStream);
  two.client->abort();
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kLost);
}

TEST_P(StreamEndContract, DestroyingDeliversWhatWasAcceptedAndThenFin) {
  auto sent = pattern(2000);
  Streams two = connect_streams();
  send_all(*two.client, sent);
  const auto expected = sent;
  two.client.reset();
  sent = {};  // the memory may go with the stream
  EXPECT_EQ(receive(*two.server, expected.size()), expected);
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
}

TEST_P(StreamEndContract, DestroyingWithOctetsUnreadResetsThePeer) {
  const auto sent = pattern(2000);
  Streams two = connect_streams();
  send_all(*two.server, sent);
  std::vector<std::byte> got;
  ASSERT_TRUE(run_until([&] { return receive_into(*two.client, got) == IoStatus::kOk; }));
  if (simulated()) harness_->settle();
  if (got.size() == sent.size()) GTEST_SKIP() << "all of it arrived in one piece";
  two.client.reset();
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kLost);
}

TEST_P(StreamEndContract, OctetsThatArriveAfterTheDestructionResetThePeer) {
  const auto sent = pattern(2000);
  Streams two = connect_streams();
  two.client.reset();
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
  EXPECT_TRUE(send_until_lost(*harness_, *two.server, sent).error);
}

TEST_P(StreamEndContract, DestroyingAConnectionEndsItToo) {
  Connections two = connect();
  const auto stream = two.server->hand_over({});
  two.client.reset();
  EXPECT_EQ(receive_to_end(*stream).status, IoStatus::kEndOfStream);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
