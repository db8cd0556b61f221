// The faults that can be injected into a simulated connection.
#include <gtest/gtest.h>

#include <bit>

#include "iwarp/sim/network.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;

// A connection whose connector sends 10,000 octets.
class SimFault : public ::testing::Test {
 protected:
  SimFault() : SimFault(SimOptions{.jitter = 5us, .segment = {1, 300}}) {}
  explicit SimFault(const SimOptions& options)
      : network_(11, options), two_(network_.make_stream_pair()) {}

  SimDirection direction() { return two_.link.from(SimSide::kConnector); }

  void send() {
    const iovec piece{sent_.data(), sent_.size()};
    ASSERT_EQ(two_.connector->send({&piece, 1}).accepted, sent_.size());
  }

  // Receives until nothing more comes; returns how it ended.
  Received receive_all() {
    network_.run_until_idle();
    for (;;) {
      std::byte scratch[1];
      const Received received = two_.acceptor->receive(scratch);
      if (received.status != IoStatus::kOk) return received;
      got_.insert(got_.end(), received.data.begin(), received.data.end());
      two_.acceptor->consume(received.data.size());
    }
  }

  std::vector<std::byte> sent_ = pattern(10'000);
  std::vector<std::byte> got_;
  SimNetwork network_;
  SimStreamPair two_;
};

TEST_F(SimFault, CorruptsTheOctetsChosenAndNoOthers) {
  direction().corrupt_at(0);
  direction().corrupt_at(9999, std::byte{0x80});
  send();
  receive_all();
  auto expected = sent_;
  expected[0] ^= std::byte{0x01};
  expected[9999] ^= std::byte{0x80};
  EXPECT_EQ(got_, expected);
}

TEST_F(SimFault, CorruptsOneBitOfARandomOctetInARange) {
  const std::uint64_t offset = direction().corrupt_within(100, 200);
  ASSERT_TRUE(offset >= 100 && offset < 200);
  send();
  receive_all();
  ASSERT_EQ(got_.size(), sent_.size());
  const auto changed = got_[offset] ^ sent_[offset];
  EXPECT_EQ(std::popcount(std::to_integer<unsigned>(changed)), 1);
  got_[offset] = sent_[offset];
  EXPECT_EQ(got_, sent_);
}

TEST_F(SimFault, CountsOffsetsFromTheBeginningOfTheConnection) {
  send();
  receive_all();
  EXPECT_EQ(direction().arrived(), 10'000U);
  direction().corrupt_at(10'005);
  got_.clear();
  send();
  EXPECT_EQ(direction().accepted(), 20'000U);
  receive_all();
  EXPECT_EQ(got_[5], sent_[5] ^ std::byte{0x01});
}

TEST_F(SimFault, ResetsInPlaceOfTheOctetChosen) {
  direction().reset_at(4321);
  send();
  const Received end = receive_all();
  EXPECT_EQ(got_.size(), 4321U);
  EXPECT_EQ(end.status, IoStatus::kLost);
  EXPECT_EQ(end.error, std::errc::connection_reset);
  std::byte scratch[1];
  EXPECT_EQ(two_.connector->receive(scratch).status, IoStatus::kLost);
}

TEST_F(SimFault, ResetsAtOnceIfTheOctetHasArrived) {
  send();
  network_.run_until_idle();
  direction().reset_at(0);
  std::byte scratch[1];
  EXPECT_EQ(two_.connector->receive(scratch).error, std::errc::connection_reset);
}

TEST_F(SimFault, NothingArrivesAfterAReset) {
  send();
  ASSERT_TRUE(network_.run_until([&] { return direction().arrived() > 1000; }));
  const std::uint64_t arrived = direction().arrived();
  two_.link.reset();
  EXPECT_EQ(receive_all().status, IoStatus::kLost);
  EXPECT_EQ(direction().arrived(), arrived);
  EXPECT_EQ(got_.size(), arrived);
}

TEST_F(SimFault, AResetOvertakesAFinThatWasNotRead) {
  two_.connector->shutdown_send();
  network_.run_until_idle();
  two_.link.reset();
  EXPECT_EQ(receive_all().status, IoStatus::kLost);
}

TEST_F(SimFault, AStallHoldsEverythingBackForItsTime) {
  send();
  direction().stall_for(50ms);
  network_.advance(49'999us);
  EXPECT_EQ(direction().arrived(), 0U);
  network_.advance(1us);
  EXPECT_EQ(receive_all().status, IoStatus::kWouldBlock);
  EXPECT_EQ(got_, sent_);
}

TEST_F(SimFault, AStallAtAnOctetHoldsBackTheSegmentThatHasIt) {
  direction().stall_at(5000, 50ms);
  send();
  network_.advance(40ms);
  EXPECT_LE(direction().arrived(), 5000U);
  EXPECT_GT(direction().arrived(), 4600U);
  network_.advance(20ms);
  EXPECT_EQ(direction().arrived(), 10'000U);
  receive_all();
  EXPECT_EQ(got_, sent_) << "still in order";
}

TEST_F(SimFault, AStallEndsByItself) {
  direction().stall_for(1ms);
  two_.connector->shutdown_send();
  EXPECT_EQ(receive_all().status, IoStatus::kEndOfStream);
}

TEST_F(SimFault, SegmentsAndEmssCanChangeOnTheWay) {
  direction().set_segments({1, 1});
  direction().set_emss(10);
  EXPECT_EQ(two_.connector->emss(), 10U);
  send();
  std::uint64_t before = 0;
  while (network_.step()) {
    EXPECT_LE(direction().arrived() - before, 1U);
    before = direction().arrived();
  }
  receive_all();
  EXPECT_EQ(got_, sent_);
}

TEST_F(SimFault, FaultsOfOneDirectionSpareTheOther) {
  direction().stall_for(50ms);
  const iovec piece{sent_.data(), 10};
  ASSERT_EQ(two_.acceptor->send({&piece, 1}).accepted, 10U);
  network_.advance(1ms);
  std::byte scratch[1];
  const Received received = two_.connector->receive(scratch);
  EXPECT_EQ(received.status, IoStatus::kOk);
  two_.connector->consume(received.data.size());
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
