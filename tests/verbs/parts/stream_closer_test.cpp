#include "soft/engine/stream_closer.hpp"

#include <array>

#include "verbs/answered_stream.hpp"
#include "verbs/sim_harness.hpp"

// A stream that its queue pair has left, step by step: RFC 5041 §3 and §6.2.1.
namespace iwarp::verbs::simtest {
namespace {

using soft::ClosingStream;
using soft::StreamCloser;
using State = StreamCloser::State;

constexpr std::size_t kRoom = 20000;  // of each of the two socket buffers
constexpr std::size_t kRest = 39000;  // both take it, and the peer's alone does not
constexpr auto kCloserLinger = 10s;

class StreamCloserTest : public testing::Test {
 protected:
  static tcp_offload::SimOptions options() {
    tcp_offload::SimOptions made;
    made.send_buffer = made.receive_buffer = kRoom;
    made.lending = tcp_offload::SimLending::kScratch;  // so that read() takes what it asks for
    return made;
  }
  ClosingStream closing() {
    ClosingStream made;
    made.unsent.assign(kRest, std::byte{7});
    made.stream = std::make_unique<AnsweredStream>(std::move(streams_.connector), answer_);
    made.linger = kCloserLinger;
    made.qp_number = 5;
    return made;
  }
  State run_for(std::chrono::nanoseconds time) {
    network_.run_until([this] { closer_.turn(network_.net.now()); }, [] { return false; }, time);
    return closer_.state();
  }
  std::size_t read(std::size_t most) {
    std::vector<std::byte> room(most);
    const auto got = streams_.acceptor->receive(room);
    streams_.acceptor->consume(got.data.size());
    return got.data.size();
  }

  AnsweredStream::Answer answer_;
  TickingNetwork network_{1, options()};
  tcp_offload::SimStreamPair streams_ = network_.net.make_stream_pair();
  StreamCloser closer_{closing(), network_.net.now()};
};

TEST_F(StreamCloserTest, IsOverOnceThePeerHasEverythingAndHasEnded) {
  run_for(1s);
  for (std::size_t got = 0; got < kRest;) {
    const std::size_t more = read(kRest);
    ASSERT_TRUE(more != 0 || run_for(100ms) != State::kOver);
    got += more;
  }
  EXPECT_EQ(run_for(1s), State::kAwaitsFin);
  streams_.acceptor->shutdown_send();
  EXPECT_EQ(run_for(1s), State::kOver);
  EXPECT_EQ(closer_.failure(), "");
}

TEST_F(StreamCloserTest, AwaitsAcknowledgementsOfAPeerThatHasEnded) {
  streams_.acceptor->shutdown_send();
  EXPECT_EQ(run_for(1s), State::kUndelivered);
  EXPECT_FALSE(closer_.interest().write) << "TCP has taken everything";
  read(kRest);
  EXPECT_EQ(run_for(1s), State::kOver);
  EXPECT_EQ(closer_.failure(), "");
}

TEST_F(StreamCloserTest, TellsOfAResetOfWhatWasNotAcknowledged) {
  run_for(1s);
  streams_.acceptor->abort();
  EXPECT_EQ(run_for(1s), State::kOver);
  EXPECT_NE(closer_.failure().find("queue pair 5"), std::string::npos) << closer_.failure();
}

// The socket has room, and would call at once.
TEST_F(StreamCloserTest, LeavesTheSocketAloneWhileThereIsNoMemoryToSendWith) {
  answer_ = [](std::span<const iovec>) {
    const auto why = std::make_error_code(std::errc::no_buffer_space);
    return tcp_offload::Sent{tcp_offload::IoStatus::kNoMemory, 0, why};
  };
  EXPECT_EQ(run_for(1s), State::kUndelivered);
  EXPECT_FALSE(closer_.interest().write);
  answer_ = {};
  EXPECT_EQ(run_for(100ms), State::kUndelivered);
  EXPECT_EQ(read(kRest), kRoom);
  EXPECT_EQ(closer_.failure(), "");
}

TEST_F(StreamCloserTest, BeginsItsTimeAnewWithEachAcknowledgement) {
  run_for(1s);
  for (int i = 0; i < 6; ++i) {  // beyond the time that silence may last
    EXPECT_EQ(run_for(kCloserLinger - 2s), State::kUndelivered) << i;
    EXPECT_EQ(read(3000), 3000U);
  }
}

// A device that checks FPDUs still has the end of the stream to tell.
TEST_F(StreamCloserTest, ABadFpduIsNotTheEndOfWhatComes) {
  auto streams = network_.net.make_stream_pair();
  ClosingStream last;
  last.stream = tcp_offload::offload_mpa(std::move(streams.connector), {.crc = true},
                                         tcp_offload::Offload::kCrc);
  last.linger = kCloserLinger;
  StreamCloser closer(std::move(last), network_.net.now());
  const auto run = [&] {
    network_.run_until([&] { closer.turn(network_.net.now()); }, [] { return false; }, 1s);
    return closer.state();
  };
  std::array<std::byte, 8> fpdu{};  // whose CRC is not zero
  const iovec piece{fpdu.data(), fpdu.size()};
  ASSERT_EQ(streams.acceptor->send({&piece, 1}).accepted, fpdu.size());
  EXPECT_EQ(run(), State::kAwaitsFin);
  EXPECT_TRUE(closer.interest().read);
  streams.acceptor->shutdown_send();
  EXPECT_EQ(run(), State::kOver);
  EXPECT_EQ(closer.failure(), "");
}

TEST_F(StreamCloserTest, IsGivenUpInSilence) {
  run_for(1s);
  EXPECT_EQ(run_for(kCloserLinger - 2s), State::kUndelivered);
  EXPECT_EQ(run_for(3s), State::kOver);
  EXPECT_NE(closer_.failure().find("nothing has moved for 10 s"), std::string::npos)
      << closer_.failure();
}

}  // namespace
}  // namespace iwarp::verbs::simtest
