// What every device promises in streaming mode.
#include <algorithm>

#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class StreamingContract : public Contract {};
IWARP_ON_EVERY_DEVICE(StreamingContract);

TEST_P(StreamingContract, ConnectAndAcceptAgreeOnTheEndpoints) {
  const auto acceptor = listen();
  Outcome accepted;
  Outcome connected;
  acceptor->async_accept(accepted.connecting());
  const auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  ASSERT_TRUE(run_until([&] { return accepted.calls + connected.calls == 2; }));
  ASSERT_TRUE(connected.connection && accepted.connection);
  EXPECT_EQ(connected.connection->remote(), acceptor->local_endpoint());
  EXPECT_EQ(accepted.connection->local(), acceptor->local_endpoint());
  EXPECT_EQ(connected.connection->local(), accepted.connection->remote());
}

TEST_P(StreamingContract, AcceptsConnectionsMadeBeforeItWasAsked) {
  const auto acceptor = listen();
  Outcome first;
  Outcome second;
  const auto attempt1 =
      harness_->client().async_connect(acceptor->local_endpoint(), first.connecting());
  const auto attempt2 =
      harness_->client().async_connect(acceptor->local_endpoint(), second.connecting());
  ASSERT_TRUE(run_until([&] { return first.calls + second.calls == 2; }));
  for (int i = 0; i < 2; ++i) {
    Outcome accepted;
    acceptor->async_accept(accepted.connecting());
    ASSERT_TRUE(run_until([&] { return accepted.calls == 1; }));
    EXPECT_NE(accepted.connection, nullptr);
  }
}

TEST_P(StreamingContract, ConnectsFromTheAddressAskedFor) {
  const auto acceptor = listen();
  const Endpoint to = acceptor->local_endpoint();
  const Connections one = connect();
  const Endpoint from(one.client->local().address(), 0);
  Outcome connected;
  const auto attempt = harness_->client().async_connect_from(from, to, connected.connecting());
  ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
  ASSERT_FALSE(connected.error) << connected.error.message();
  EXPECT_EQ(connected.connection->local().address(), from.address());
  EXPECT_NE(connected.connection->local().port(), 0);
}

TEST_P(StreamingContract, ReportsAnAddressThatIsNotItsOwn) {
  const auto acceptor = listen();
  const bool v6 = acceptor->local_endpoint().address().is_v6();
  const Endpoint foreign(boost::asio::ip::make_address(v6 ? "2001:db8::1" : "192.0.2.1"), 0);
  const auto refused = harness_->server().listen(foreign, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), std::errc::address_not_available);
  Outcome connected;
  const auto attempt = harness_->client().async_connect_from(foreign, acceptor->local_endpoint(),
                                                             connected.connecting());
  ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
  EXPECT_EQ(connected.error, std::errc::address_not_available);
}

TEST_P(StreamingContract, ReportsConnectionRefusedWhereNobodyListens) {
  const Endpoint nobody = listen()->local_endpoint();
  Outcome connected;
  const auto attempt = harness_->client().async_connect(nobody, connected.connecting());
  EXPECT_EQ(connected.calls, 0);
  ASSERT_TRUE(run_until([&] { return connected.calls == 1; }));
  EXPECT_EQ(connected.error, std::errc::connection_refused);
  EXPECT_EQ(connected.connection, nullptr);
}

TEST_P(StreamingContract, ReportsAnEndpointInUse) {
  const auto acceptor = listen();
  const auto second = harness_->server().listen(acceptor->local_endpoint(), 1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), std::errc::address_in_use);
}

TEST_P(StreamingContract, AnEndpointCanBeListenedAtAgainOnceItsAcceptorIsGone) {
  const Endpoint at = listen()->local_endpoint();
  EXPECT_NE(at.port(), 0);
  EXPECT_TRUE(harness_->server().listen(at, 1));
}

TEST_P(StreamingContract, ReadsExactlyWhatWasAskedFor) {
  const auto sent = pattern(10);
  const Connections two = connect();
  Outcome written;
  two.server->async_write(sent, written.transfer());
  std::vector<std::byte> got(10);
  const MutableBytes all(got);
  for (const auto& part : {all.first(4), all.subspan(4, 1), all.subspan(5)}) {
    Outcome read;
    two.client->async_read(part, read.transfer());
    EXPECT_EQ(read.calls, 0) << "called inline";
    ASSERT_TRUE(run_until([&] { return read.calls == 1; }));
    EXPECT_FALSE(read.error);
    EXPECT_EQ(read.octets, part.size());
  }
  EXPECT_EQ(got, sent);
  ASSERT_TRUE(run_until([&] { return written.calls == 1; }));
  EXPECT_EQ(written.octets, 10U);
}

TEST_P(StreamingContract, ReadSomeReadsAtLeastOneOctetAndNoMoreThanThereIsRoom) {
  const auto sent = pattern(100);
  const Connections two = connect();
  Outcome written;
  two.client->async_write(sent, written.transfer());
  std::vector<std::byte> got;
  while (got.size() < sent.size()) {
    std::vector<std::byte> room(60);
    Outcome read;
    two.server->async_read_some(room, read.transfer());
    ASSERT_TRUE(run_until([&] { return read.calls == 1; }));
    ASSERT_FALSE(read.error);
    ASSERT_TRUE(read.octets >= 1 && read.octets <= 60) << read.octets;
    got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(read.octets));
  }
  EXPECT_EQ(got, sent);
}

TEST_P(StreamingContract, WritesMoreThanTheBuffersHold) {
  const auto sent = pattern(1U << 20U);
  std::vector<std::byte> got(sent.size());
  const Connections two = connect();
  Outcome written;
  Outcome read;
  two.client->async_write(sent, written.transfer());
  two.server->async_read(got, read.transfer());
  EXPECT_EQ(written.calls + read.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return written.calls + read.calls == 2; }));
  EXPECT_EQ(written.octets, sent.size());
  EXPECT_TRUE(got == sent);
}

TEST_P(StreamingContract, ReportsTheEndOfTheStreamWithTheOctetsReadBefore) {
  const auto sent = pattern(5);
  Connections two = connect();
  Outcome written;
  two.client->async_write(sent, written.transfer());
  ASSERT_TRUE(run_until([&] { return written.calls == 1; }));
  two.client.reset();
  std::vector<std::byte> got(8);
  Outcome read;
  two.server->async_read(got, read.transfer());
  ASSERT_TRUE(run_until([&] { return read.calls == 1; }));
  EXPECT_EQ(read.error, Error::kEndOfStream);
  EXPECT_EQ(read.octets, 5U);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), got.begin()));
  Outcome again;
  two.server->async_read_some(got, again.transfer());
  ASSERT_TRUE(run_until([&] { return again.calls == 1; }));
  EXPECT_EQ(again.error, Error::kEndOfStream);
  EXPECT_EQ(again.octets, 0U);
}

TEST_P(StreamingContract, OperationsFailOnceTheConnectionIsClosed) {
  const Connections two = connect();
  two.client->close();
  std::vector<std::byte> room(1);
  Outcome read;
  Outcome written;
  two.client->async_read(room, read.transfer());
  two.client->async_write(room, written.transfer());
  ASSERT_TRUE(run_until([&] { return read.calls + written.calls == 2; }));
  EXPECT_TRUE(read.error && written.error);
  EXPECT_EQ(two.client->hand_over({}), nullptr);
  EXPECT_EQ(two.client->release_native(), -1);
}

TEST_P(StreamingContract, SaysWhatItIsAndTakesOffTheHost) {
  const bool knows_mpa = GetParam() == Kind::kSimMpa;
  EXPECT_EQ(harness_->client().offloads(),
            knows_mpa ? Offload::kCrc | Offload::kMarkers : Offloads());
  EXPECT_FALSE(harness_->client().name().empty());
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
