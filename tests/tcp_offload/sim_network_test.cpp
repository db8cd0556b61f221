// What the simulated network adds to the contract: a clock, a seed, hosts.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "iwarp/sim/network.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

std::size_t send(Stream& stream, ConstBytes bytes) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return stream.send({&piece, 1}).accepted;
}

// Everything that can be received now.
std::vector<std::byte> drain(Stream& stream) {
  std::vector<std::byte> got;
  std::byte scratch[1];
  for (;;) {
    const Received received = stream.receive(scratch);
    if (received.status != IoStatus::kOk) return got;
    got.insert(got.end(), received.data.begin(), received.data.end());
    stream.consume(received.data.size());
  }
}

std::uint64_t digest_of_run(std::uint64_t seed) {
  SimOptions options;
  options.segment = {1, 500};
  options.lend = {1, 300};
  options.jitter = 30us;
  const auto sent = pattern(50'000);
  SimNetwork network(seed, options);
  const SimStreamPair two = network.make_stream_pair();
  std::size_t accepted = 0;
  std::vector<std::byte> got;
  EXPECT_TRUE(network.run_until([&] {
    accepted += send(*two.connector, ConstBytes(sent).subspan(accepted));
    const auto more = drain(*two.acceptor);
    got.insert(got.end(), more.begin(), more.end());
    return got.size() == sent.size();
  }));
  EXPECT_EQ(got, sent);
  return network.digest();
}

TEST(SimNetworkTest, TheSameSeedGivesTheSameRun) { EXPECT_EQ(digest_of_run(3), digest_of_run(3)); }

TEST(SimNetworkTest, AnotherSeedGivesAnotherRun) { EXPECT_NE(digest_of_run(3), digest_of_run(4)); }

TEST(SimNetworkTest, TheClockMovesOnlyWithSteps) {
  SimNetwork network(1);
  Device& device = network.device(1);
  const auto start = device.now();
  const auto timer = device.make_timer();
  Outcome waited;
  timer->async_wait(5s, waited.waiting());
  EXPECT_EQ(device.now(), start);
  network.advance(2s);
  EXPECT_EQ(device.now(), start + 2s);
  EXPECT_EQ(waited.calls, 0);
  EXPECT_TRUE(network.pending());
  EXPECT_TRUE(network.step());
  EXPECT_EQ(device.now(), start + 5s);
  EXPECT_EQ(waited.calls, 1);
  EXPECT_FALSE(network.pending());
  EXPECT_FALSE(network.step());
}

TEST(SimNetworkTest, ACancelledTimerIsNotPending) {
  SimNetwork network(1);
  const auto start = network.now();
  const auto timer = network.device(1).make_timer();
  Outcome waited;
  timer->async_wait(5s, waited.waiting());
  timer->cancel();
  EXPECT_EQ(network.run_until_idle(), 1U);
  EXPECT_EQ(network.now(), start);
}

TEST(SimNetworkTest, OctetsTakeTheLatencyOneWay) {
  SimOptions options;
  options.latency = 3ms;
  const auto sent = pattern(100);
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  send(*two.connector, sent);
  network.advance(2999us);
  EXPECT_TRUE(drain(*two.acceptor).empty());
  network.advance(1us);
  EXPECT_EQ(drain(*two.acceptor), sent);
}

TEST(SimNetworkTest, ASegmentCarriesNoMoreThanTheEmss) {
  SimOptions options;
  options.emss = 100;
  options.jitter = 1us;
  const auto sent = pattern(1000);
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  EXPECT_EQ(two.connector->emss(), 100U);
  send(*two.connector, sent);
  std::size_t total = 0;
  while (network.step()) {
    const std::size_t n = drain(*two.acceptor).size();
    EXPECT_LE(n, 100U);
    total += n;
  }
  EXPECT_EQ(total, 1000U);
}

TEST(SimNetworkTest, BuffersOfOneOctetStillCarryEverything) {
  SimOptions options;
  options.send_buffer = 1;
  options.receive_buffer = 1;
  const auto sent = pattern(50);
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  std::vector<std::byte> got;
  std::size_t accepted = 0;
  ASSERT_TRUE(network.run_until([&] {
    const std::size_t n = send(*two.connector, ConstBytes(sent).subspan(accepted));
    EXPECT_LE(n, 1U);
    accepted += n;
    const auto more = drain(*two.acceptor);
    EXPECT_LE(more.size(), 1U);
    got.insert(got.end(), more.begin(), more.end());
    return got.size() == sent.size();
  }));
  EXPECT_EQ(got, sent);
}

TEST(SimNetworkTest, TheReceiverHoldsNoMoreThanItsBuffer) {
  SimOptions options;
  options.receive_buffer = 4096;
  options.send_buffer = 1U << 20U;
  const auto sent = pattern(100'000);
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  EXPECT_EQ(send(*two.connector, sent), sent.size());
  network.run_until_idle();
  EXPECT_EQ(two.link.from(SimSide::kConnector).arrived(), 4096U);
  std::byte scratch[1];
  const Received received = two.acceptor->receive(scratch);
  network.run_until_idle();
  EXPECT_EQ(two.link.from(SimSide::kConnector).arrived(), 4096U) << "lent is not consumed";
  two.acceptor->consume(received.data.size());
  network.run_until_idle();
  EXPECT_EQ(two.link.from(SimSide::kConnector).arrived(), 4096U + received.data.size());
}

TEST(SimNetworkTest, LendsInPiecesOfTheRangeAskedFor) {
  SimOptions options;
  options.lend = {2, 9};
  const auto sent = pattern(1000);
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  send(*two.connector, sent);
  network.run_until_idle();
  std::size_t total = 0;
  std::byte scratch[1];
  while (total < sent.size()) {
    const Received received = two.acceptor->receive(scratch);
    ASSERT_EQ(received.status, IoStatus::kOk);
    EXPECT_LE(received.data.size(), 9U);
    EXPECT_TRUE(received.data.size() >= 2 || total + received.data.size() == sent.size());
    total += received.data.size();
    two.acceptor->consume(received.data.size());
  }
}

TEST(SimNetworkTest, ReferencedMemoryIsReadWhenItIsSentAndReleasedWhenItHasArrived) {
  SimOptions options;
  options.memory = SimMemory::kReferenced;
  options.latency = 1ms;
  options.release_lag = 5ms;
  std::vector<std::byte> memory(10, std::byte{1});
  SimNetwork network(1, options);
  const SimStreamPair two = network.make_stream_pair();
  ASSERT_EQ(send(*two.connector, memory), 10U);
  memory[3] = std::byte{2};  // too early: it goes out like this
  network.advance(6999us);
  EXPECT_EQ(two.connector->released(), 0U);
  network.advance(1us);  // there, back, and the lag
  EXPECT_EQ(two.connector->released(), 10U);
  EXPECT_EQ(drain(*two.acceptor), memory);
}

TEST(SimNetworkTest, ALostConnectionHoldsNoMemory) {
  SimOptions options;
  options.memory = SimMemory::kReferenced;
  const std::vector<std::byte> memory(10);
  SimNetwork network(1, options);
  SimStreamPair two = network.make_stream_pair();
  ASSERT_EQ(send(*two.connector, memory), 10U);
  two.link.reset();
  EXPECT_EQ(two.connector->released(), 10U);
}

TEST(SimNetworkTest, AHostReachesItselfByLoopback) {
  SimNetwork network(1);
  Device& device = network.device(1);
  const auto acceptor = device.listen({boost::asio::ip::address_v4::any(), 0}, 1);
  ASSERT_TRUE(acceptor);
  Outcome connected;
  const auto attempt = device.async_connect(
      {boost::asio::ip::address_v4::loopback(), (*acceptor)->local_endpoint().port()},
      connected.connecting());
  network.run_until_idle();
  ASSERT_FALSE(connected.error);
  EXPECT_EQ(connected.connection->remote().address(), boost::asio::ip::make_address("10.0.0.1"));
}

TEST(SimNetworkTest, AHostThatIsNotThereIsUnreachable) {
  SimNetwork network(1);
  Outcome connected;
  const auto attempt = network.device(1).async_connect(
      {boost::asio::ip::make_address("10.0.0.99"), 1}, connected.connecting());
  network.run_until_idle();
  EXPECT_EQ(connected.error, std::errc::host_unreachable);
}

TEST(SimNetworkTest, AFullBacklogMakesConnectingWait) {
  SimNetwork network(1);
  const auto acceptor = network.device(2).listen({boost::asio::ip::make_address("10.0.0.2"), 0}, 1);
  ASSERT_TRUE(acceptor);
  const Endpoint at = (*acceptor)->local_endpoint();
  Outcome first;
  Outcome second;
  const auto attempt1 = network.device(1).async_connect(at, first.connecting());
  const auto attempt2 = network.device(1).async_connect(at, second.connecting());
  network.advance(10s);
  EXPECT_EQ(first.calls, 1);
  EXPECT_EQ(second.calls, 0);
  Outcome accepted;
  (*acceptor)->async_accept(accepted.connecting());
  network.advance(2s);
  EXPECT_EQ(second.calls, 1);
  EXPECT_FALSE(second.error);
}

TEST(SimNetworkTest, ClosingAListenerResetsTheConnectionsThatWait) {
  SimNetwork network(1);
  const auto acceptor = network.device(2).listen({boost::asio::ip::make_address("10.0.0.2"), 0}, 1);
  ASSERT_TRUE(acceptor);
  Outcome connected;
  const auto attempt =
      network.device(1).async_connect((*acceptor)->local_endpoint(), connected.connecting());
  network.run_until_idle();
  ASSERT_NE(connected.connection, nullptr);
  (*acceptor)->close();
  std::vector<std::byte> room(1);
  Outcome read;
  connected.connection->async_read(room, read.transfer());
  network.run_until_idle();
  EXPECT_EQ(read.error, std::errc::connection_reset);
}

TEST(SimNetworkTest, TellsOfEachConnectionBeforeAnyOctetMoves) {
  SimNetwork network(1);
  std::size_t told = 0;
  network.on_link([&](SimLink link) {
    ++told;
    EXPECT_EQ(link.from(SimSide::kConnector).accepted(), 0U);
    EXPECT_EQ(link.endpoint(SimSide::kAcceptor).address(),
              boost::asio::ip::make_address("10.0.0.2"));
  });
  const SimStreamPair two = network.make_stream_pair();
  EXPECT_EQ(told, 1U);
  EXPECT_EQ(network.links(), 1U);
  EXPECT_EQ(network.link(0).endpoint(SimSide::kConnector), two.connector->local());
}

// The whole of a stopped process: what came for it is there when it goes on, and its timers are
// due.
TEST(SimNetworkTest, AStoppedProgramIsToldOfItsTimersAndThenOfWhatCameMeanwhile) {
  const auto sent = pattern(100);
  SimNetwork network(1);
  const auto acceptor = network.device(2).listen({boost::asio::ip::make_address("10.0.0.2"), 0}, 1);
  ASSERT_TRUE(acceptor);
  std::vector<std::string> told;
  std::unique_ptr<Connection> near, far;
  (*acceptor)->async_accept([&](std::error_code, std::unique_ptr<Connection> accepted) {
    far = std::move(accepted);
    far->async_write(sent, [](std::error_code, std::size_t) {});
  });
  const auto attempt = network.device(1).async_connect(
      (*acceptor)->local_endpoint(),
      [&](std::error_code, std::unique_ptr<Connection> connected) { near = std::move(connected); });
  ASSERT_TRUE(network.run_until([&] { return near != nullptr; }));
  std::array<std::byte, 200> room;
  const auto timer = network.device(1).make_timer(), later = network.device(1).make_timer();
  network.stop(1);
  near->async_read_some(room, [&](std::error_code, std::size_t n) {
    EXPECT_EQ(n, sent.size());
    told.push_back("read");
  });
  network.device(1).post([&] { told.push_back("posted"); });
  timer->async_wait(10s, [&](std::error_code) { told.push_back("timer"); });
  later->async_wait(12s, [&](std::error_code) { told.push_back("later"); });
  network.advance(11s);
  EXPECT_TRUE(told.empty());
  network.go_on(1);
  EXPECT_TRUE(told.empty()) << "only steps call handlers";
  network.run_until_idle();
  EXPECT_EQ(told, (std::vector<std::string>{"timer", "posted", "read", "later"}));
}

TEST(SimNetworkTest, ATimerThatCameDueInAStoppedProgramCanStillBeCancelledOrSetAnew) {
  SimNetwork network(1);
  const auto first = network.device(1).make_timer(), cancelled = network.device(1).make_timer(),
             anew = network.device(1).make_timer();
  Outcome never, set_anew;
  const auto begin = network.now();
  first->async_wait(1s, [&](std::error_code) {
    cancelled->cancel();
    anew->async_wait(5s, set_anew.waiting());
  });
  cancelled->async_wait(2s, never.waiting());
  anew->async_wait(3s, [](std::error_code error) { EXPECT_TRUE(error); });
  network.stop(1);
  network.advance(10s);
  network.go_on(1);
  network.run_until_idle();
  EXPECT_EQ(never.calls, 1);
  EXPECT_EQ(never.error, std::errc::operation_canceled);
  EXPECT_EQ(set_anew.calls, 1);
  EXPECT_FALSE(set_anew.error);
  EXPECT_EQ(network.now() - begin, 15s);
}

TEST(SimNetworkTest, ItHasNoDescriptorsToGiveOrTake) {
  SimNetwork network(1);
  const auto adopted = network.device(1).adopt(0);
  ASSERT_FALSE(adopted);
  EXPECT_EQ(adopted.error(), std::errc::not_supported);
}

TEST(SimNetworkTest, MayBeDestroyedWithEverythingStillUnderWay) {
  const auto sent = pattern(100);
  SimNetwork network(1);
  Outcome accepted;
  Outcome connected;
  const auto acceptor = network.device(2).listen({boost::asio::ip::make_address("10.0.0.2"), 0}, 1);
  ASSERT_TRUE(acceptor);
  // The handlers own connections that end while the network is being destroyed.
  const SimStreamPair two = network.make_stream_pair();
  send(*two.connector, sent);
  (*acceptor)->async_accept(accepted.connecting());
  const auto attempt =
      network.device(1).async_connect((*acceptor)->local_endpoint(), connected.connecting());
  while (network.links() < 2 && network.step()) {
  }
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
