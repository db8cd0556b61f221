// What every device promises about telling what the peer's TCP has got.
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class StreamDeliveryContract : public Contract {};
IWARP_ON_EVERY_DEVICE(StreamDeliveryContract);

TEST_P(StreamDeliveryContract, NothingIsOwedBeforeTheFirstOctet) {
  const Streams two = connect_streams();
  EXPECT_EQ(two.client->delivery().unacknowledged, 0U);
  EXPECT_FALSE(two.client->delivery().lost);
}

TEST_P(StreamDeliveryContract, WhatHasArrivedIsAcknowledgedInTheEnd) {
  const auto sent = pattern(20'000);
  const Streams two = connect_streams();
  EXPECT_EQ(transfer(*two.client, *two.server, sent), sent);
  EXPECT_TRUE(run_until([&] { return two.client->delivery().unacknowledged == 0; }));
  EXPECT_FALSE(two.client->delivery().lost);
}

TEST_P(StreamDeliveryContract, OctetsThatFindNoRoomStayUnacknowledged) {
  const auto sent = pattern(20'000);
  const Streams two = connect_streams();
  while (fill(*two.client, sent) != 0) harness_->settle();
  harness_->settle();
  const Delivery delivery = two.client->delivery();
  EXPECT_GT(delivery.unacknowledged, 0U) << "the peer's buffer and this end's are full";
  EXPECT_FALSE(delivery.lost);
}

TEST_P(StreamDeliveryContract, FinDoesNotCount) {
  const Streams two = connect_streams();
  two.client->shutdown_send();
  EXPECT_EQ(two.client->delivery().unacknowledged, 0U);
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
  EXPECT_EQ(two.client->delivery().unacknowledged, 0U) << "neither when it has been acknowledged";
}

TEST_P(StreamDeliveryContract, OctetsBehindWhichFinWaitsCount) {
  const auto sent = pattern(20'000);
  const Streams two = connect_streams();
  while (fill(*two.client, sent) != 0) harness_->settle();
  const std::uint64_t before = two.client->delivery().unacknowledged;
  two.client->shutdown_send();
  EXPECT_EQ(two.client->delivery().unacknowledged, before);
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
  EXPECT_TRUE(run_until([&] { return two.client->delivery().unacknowledged == 0; }));
}

TEST_P(StreamDeliveryContract, ResetOfWhatIsUnacknowledgedIsALoss) {
  const auto sent = pattern(20'000);
  const Streams two = connect_streams();
  while (fill(*two.client, sent) != 0) harness_->settle();
  two.server->abort();
  EXPECT_TRUE(run_until([&] { return static_cast<bool>(two.client->delivery().lost); }));
  EXPECT_GT(two.client->delivery().unacknowledged, 0U);
}

TEST_P(StreamDeliveryContract, EndOfBothHalvesLosesNothing) {
  const auto sent = pattern(3000);
  const Streams two = connect_streams();
  EXPECT_EQ(transfer(*two.client, *two.server, sent), sent);
  two.server->shutdown_send();
  EXPECT_EQ(receive_to_end(*two.client).status, IoStatus::kEndOfStream);
  two.client->shutdown_send();
  EXPECT_EQ(receive_to_end(*two.server).status, IoStatus::kEndOfStream);
  EXPECT_TRUE(run_until([&] { return two.client->delivery().unacknowledged == 0; }));
  EXPECT_FALSE(two.client->delivery().lost);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
