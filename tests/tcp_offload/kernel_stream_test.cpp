// Streams of the kernel device: EMSS, readiness, and their two halves in two threads.
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "support/failing_sends.hpp"
#include "tcp_offload/kernel_fixture.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using KernelStreams = KernelFixture;

bool system_uses_timestamps() {
  std::ifstream setting("/proc/sys/net/ipv4/tcp_timestamps");
  int value = 0;
  setting >> value;
  return value != 0;
}

std::size_t system_mss(const Stream& stream) {
  tcp_info info{};
  socklen_t size = sizeof info;
  EXPECT_EQ(::getsockopt(stream.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size), 0);
  return info.tcpi_snd_mss;
}

int option(const Stream& stream, int level, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(stream.descriptor(), level, name, &value, &size), 0);
  return value;
}

std::size_t send_some(Stream& stream, ConstBytes bytes) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return stream.send({&piece, 1}).accepted;
}

TEST_F(KernelStreams, EmssIsTheSegmentSizeTheSystemSendsWith) {
  const Streams two = connect_streams();
  EXPECT_EQ(two.client->emss(), system_mss(*two.client));
}

TEST_F(KernelStreams, EmssLeavesOutTheTimestampsOption) {
  // An end that announces an MSS of 1460, as on an Ethernet; 12 octets of each segment are options.
  const NativePair pair = connect_natively([](int socket) {
    const int mss = 1460;
    ASSERT_EQ(::setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss), 0);
  });
  const std::size_t expected = system_uses_timestamps() ? 1448 : 1460;
  for (const int socket : {pair.client, pair.server}) {
    const auto connection = device_.adopt(socket);
    ASSERT_TRUE(connection);
    EXPECT_EQ((*connection)->hand_over({})->emss(), expected);
  }
}

TEST_F(KernelStreams, EmssFollowsTheGrowthOfAYoungConnectionsWindow) {
  const Streams two = connect_streams();
  const std::size_t before = two.client->emss();
  const auto bytes = pattern(4096);
  std::vector<std::byte> scratch(1U << 20U);
  const auto move_some = [&] {
    const std::size_t sent = send_some(*two.client, bytes);
    two.server->consume(two.server->receive(scratch).data.size());
    return sent;
  };
  for (std::size_t sent = 0; sent < 1U << 17U;) sent += move_some();
  // The last growth may become known behind the last octets.
  for (int i = 0; i < 1000 && two.client->emss() != system_mss(*two.client); ++i) move_some();
  EXPECT_EQ(two.client->emss(), system_mss(*two.client));
  EXPECT_GE(two.client->emss(), before);
}

class KernelQuantum : public KernelStreams {
 protected:
  static constexpr int kSystemsMss = 0;

  // What a stream names after its first octets under a congestion control; none if the system has
  // not got that.
  std::optional<std::size_t> quantum_under(std::string_view control, int mss,
                                           std::size_t octets = std::size_t{1} << 14U) {
    bool set = true;
    const NativePair pair = connect_natively([&](int socket) {
      if (mss != kSystemsMss) {
        ASSERT_EQ(::setsockopt(socket, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss), 0);
      }
      set = set && ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                                static_cast<socklen_t>(control.size())) == 0;
    });
    const auto near = device_.adopt(pair.client);
    const auto far = device_.adopt(pair.server);
    EXPECT_TRUE(near && far);
    if (!set) return std::nullopt;
    const auto stream = (*near)->hand_over({});
    const auto other = (*far)->hand_over({});
    EXPECT_EQ(stream->send_quantum(), 0U) << "nothing has been sent";
    const auto bytes = pattern(octets);
    std::vector<std::byte> scratch(octets);
    for (std::size_t sent = 0; sent < octets;) {
      sent += send_some(*stream, ConstBytes(bytes).subspan(sent));
      other->consume(other->receive(scratch).data.size());
    }
    EXPECT_EQ(stream->send_quantum() % stream->emss(), 0U);
    return stream->send_quantum();
  }
};

TEST_F(KernelQuantum, SendsOnePacketAtATimeUnderAPacedCongestionControl) {
  for (const int mss : {536, 1460, 8960}) {
    const auto quantum = quantum_under("bbr", mss);
    if (!quantum) GTEST_SKIP() << "the system has no bbr";
    EXPECT_LE(*quantum, 65536U);
    EXPECT_GT(*quantum, 65536U - static_cast<std::size_t>(mss));
  }
}

TEST_F(KernelQuantum, SendsAsMuchAsThereIsWhereAPacketIsOneSegment) {
  // A young connection's segments are bounded by half of a window that still grows.
  const auto quantum = quantum_under("bbr", kSystemsMss, std::size_t{1} << 23U);
  if (!quantum) GTEST_SKIP() << "the system has no bbr";
  EXPECT_EQ(*quantum, 0U);
}

TEST_F(KernelQuantum, SendsAsMuchAsThereIsUnderAnyOtherCongestionControl) {
  const auto quantum = quantum_under("reno", 1460);
  ASSERT_TRUE(quantum);
  EXPECT_EQ(*quantum, 0U);
}

TEST_F(KernelStreams, EdgeTriggeredReadinessFollowsEachWouldBlock) {
  const Streams two = connect_streams();
  const int set = ::epoll_create1(0);
  epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, two.server->descriptor(), &wanted), 0);
  const auto bytes = pattern(10);
  for (int i = 0; i < 3; ++i) {
    std::byte scratch[100];
    EXPECT_EQ(two.server->receive(scratch).status, IoStatus::kWouldBlock);
    ASSERT_EQ(send_some(*two.client, bytes), 10U);
    epoll_event event{};
    ASSERT_EQ(::epoll_wait(set, &event, 1, 10'000), 1);
    const Received received = two.server->receive(scratch);
    ASSERT_EQ(received.data.size(), 10U);
    two.server->consume(10);
  }
  ::close(set);
}

TEST_F(KernelStreams, TellWhenThereIsNoMore) {
  const Streams two = connect_streams();
  const auto receive = [&](MutableBytes scratch) {
    pollfd wanted{two.server->descriptor(), POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, 10'000), 1);
    const Received received = two.server->receive(scratch);
    two.server->consume(received.data.size());
    return received;
  };
  std::array<std::byte, 10> scratch;
  ASSERT_EQ(send_some(*two.client, pattern(25)), 25U);
  EXPECT_FALSE(receive(scratch).drained);
  EXPECT_FALSE(receive(scratch).drained) << "there may be more than the room was for";
  EXPECT_TRUE(receive(scratch).drained);
  EXPECT_EQ(two.server->receive(scratch).status, IoStatus::kWouldBlock);
}

TEST_F(KernelStreams, AnAbortWakesWhoeverWaitsOnTheDescriptor) {
  const Streams two = connect_streams();
  const int set = ::epoll_create1(0);
  epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, two.server->descriptor(), &wanted), 0);
  epoll_event event{};
  ASSERT_EQ(::epoll_wait(set, &event, 1, 0), 0);
  two.server->abort();
  EXPECT_EQ(::epoll_wait(set, &event, 1, 10'000), 1);
  std::byte scratch[1];
  EXPECT_EQ(two.server->receive(scratch).status, IoStatus::kLost);
  ::close(set);
}

// The system's own limit is several times as much: all memory of TCP for a thousand such peers.
TEST_F(KernelStreams, TakeLittleThatThePeerDoesNotRead) {
  const Streams two = connect_streams();
  const std::vector<std::byte> bytes(std::size_t{64} << 10U);
  for (Stream* const stream : {two.client.get(), two.server.get()}) {
    std::size_t taken = 0;
    // What the other end's TCP takes in after the first refusal makes room once more.
    for (int refusals = 0; refusals < 10;) {
      const std::size_t accepted = send_some(*stream, bytes);
      taken += accepted;
      if (accepted == 0) ++refusals;
    }
    EXPECT_GE(taken, std::size_t{1} << 20U);
    EXPECT_LT(taken, std::size_t{2} << 20U);
  }
}

// One thread sends and another receives, at both ends.
TEST_F(KernelStreams, BothHalvesWorkAtOnce) {
  constexpr std::size_t kSize = 8U << 20U;
  const auto sent = pattern(kSize);
  const Streams two = connect_streams();
  const auto send_everything = [&](Stream& stream) {
    for (std::size_t done = 0; done < kSize;) {
      done += send_some(stream, ConstBytes(sent).subspan(done));
      EXPECT_EQ(stream.released(), done);
    }
    stream.shutdown_send();
  };
  const auto receive_everything = [&](Stream& stream) {
    std::vector<std::byte> scratch(65536);
    std::size_t done = 0;
    for (;;) {
      const Received received = stream.receive(scratch);
      EXPECT_NE(received.status, IoStatus::kLost) << received.error.message();
      if (received.status == IoStatus::kEndOfStream || received.status == IoStatus::kLost) break;
      EXPECT_TRUE(std::equal(received.data.begin(), received.data.end(),
                             sent.begin() + static_cast<std::ptrdiff_t>(done)));
      done += received.data.size();
      stream.consume(received.data.size());
      EXPECT_NE(stream.emss(), 0U);
    }
    EXPECT_EQ(done, kSize);
  };
  std::thread threads[] = {std::thread(send_everything, std::ref(*two.client)),
                           std::thread(receive_everything, std::ref(*two.client)),
                           std::thread(send_everything, std::ref(*two.server)),
                           std::thread(receive_everything, std::ref(*two.server))};
  for (std::thread& thread : threads) thread.join();
}

// The sending and the receiving thread of one end race for the news of the peer's reset.
TEST_F(KernelStreams, AResetIsNoEndWhicheverThreadHearsOfItFirst) {
  const auto bytes = pattern(1000);
  for (int round = 0; round < 200; ++round) {
    const Streams two = connect_streams();
    std::atomic<bool> go{false};
    std::thread sender([&] {
      while (!go) {
      }
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
      while (two.server->send({&piece, 1}).status != IoStatus::kLost) {
      }
      two.server->shutdown_send();
    });
    go = true;
    two.client->abort();
    IoStatus status = IoStatus::kWouldBlock;
    std::vector<std::byte> scratch(100);
    while (status != IoStatus::kLost && status != IoStatus::kEndOfStream) {
      status = two.server->receive(scratch).status;
    }
    sender.join();
    ASSERT_EQ(status, IoStatus::kLost) << "round " << round;
  }
}

TEST_F(KernelStreams, AbortMayComeFromAThirdThread) {
  const auto bytes = pattern(1000);
  for (int round = 0; round < 50; ++round) {
    const Streams two = connect_streams();
    std::thread sender([&] {
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
      Sent sent;
      do {
        sent = two.server->send({&piece, 1});
      } while (sent.status != IoStatus::kLost);
      EXPECT_EQ(sent.error, std::errc::connection_aborted);
    });
    std::thread receiver([&] {
      std::byte scratch[100];
      Received received;
      do {
        received = two.server->receive(scratch);
        two.server->consume(received.data.size());
      } while (received.status == IoStatus::kOk || received.status == IoStatus::kWouldBlock);
      EXPECT_EQ(received.status, IoStatus::kLost);
      EXPECT_EQ(received.error, std::errc::connection_aborted);
    });
    two.server->abort();
    sender.join();
    receiver.join();
  }
}

TEST_F(KernelStreams, MemoryThatCannotBeReadIsRefusedAndTheStreamGoesOn) {
  const Streams two = connect_streams();
  const iovec nowhere{reinterpret_cast<void*>(8), 100};
  const Sent refused = two.client->send({&nowhere, 1});
  EXPECT_EQ(refused.status, IoStatus::kFault);
  EXPECT_EQ(refused.accepted, 0U);
  std::byte octet{5};
  const iovec there{&octet, 1};
  const Sent sent = two.client->send({&there, 1});
  EXPECT_EQ(sent.status, IoStatus::kOk);
  EXPECT_EQ(sent.accepted, 1U);
}

TEST_F(KernelStreams, WatchTheirPeersAsTheyAreTold) {
  using namespace std::chrono_literals;
  const Streams two = connect_streams();
  Stream& stream = *two.client;
  EXPECT_EQ(option(stream, SOL_SOCKET, SO_KEEPALIVE), 0);
  stream.watch_peer({1500ms, 30s});
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_USER_TIMEOUT), 1500);
  EXPECT_EQ(option(stream, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_KEEPIDLE), 30);
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_KEEPINTVL), 7);
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_KEEPCNT), 4);
  stream.watch_peer({24h, 24h});  // more than the system takes for probes
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_USER_TIMEOUT), 86'400'000);
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_KEEPIDLE), 32767);
  stream.watch_peer({});
  EXPECT_EQ(option(stream, IPPROTO_TCP, TCP_USER_TIMEOUT), 0);
  EXPECT_EQ(option(stream, SOL_SOCKET, SO_KEEPALIVE), 0);
}

TEST_F(KernelStreams, APeerThatTakesInNothingIsLost) {
  using namespace std::chrono_literals;
  const Streams two = connect_streams();
  two.client->watch_peer({300ms, 0s});
  const auto bytes = pattern(1U << 20U);
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  Sent sent;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (sent.status != IoStatus::kLost && std::chrono::steady_clock::now() < patience) {
    sent = two.client->send({&piece, 1});
    if (sent.status == IoStatus::kWouldBlock) std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(sent.status, IoStatus::kLost);
  EXPECT_EQ(sent.error, std::errc::timed_out);
}

TEST_F(KernelStreams, WantOfMemoryToSendWithIsNoLoss) {
  const Streams two = connect_streams();
  const auto bytes = pattern(100);
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  for (const int error : {ENOBUFS, ENOMEM}) {
    {
      const iwarp::test::FailingSends failing(error);
      const Sent refused = two.client->send({&piece, 1});
      EXPECT_EQ(refused.status, IoStatus::kNoMemory);
      EXPECT_EQ(refused.accepted, 0U);
      EXPECT_EQ(refused.error.value(), error);
    }
    EXPECT_EQ(two.client->send({&piece, 1}).accepted, bytes.size());
  }
  EXPECT_EQ(two.client->delivery().lost, std::error_code());
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
