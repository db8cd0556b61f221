#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/own_new.hpp"
#include "verbs/loopback_support.hpp"

// Where the process has no more memory, for a while: what comes meanwhile fails, and what comes
// afterwards does not.
namespace {

std::atomic<bool> is_short{false};
thread_local bool is_spared = false;  // the test's own thread

bool admits() { return !is_short || is_spared; }

}  // namespace

namespace iwarp::verbs {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// For threads that are not this one.
class Shortage {
 public:
  Shortage() {
    iwarp::test::ask_at_each_new(&admits);
    is_spared = true;
    is_short = true;
  }
  ~Shortage() { is_short = false; }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

/// A peer that says nothing.
class TcpPeer {
 public:
  explicit TcpPeer(const Endpoint& to) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    connected_ = ::connect(socket_, to.data(), static_cast<socklen_t>(to.size())) == 0;
  }
  ~TcpPeer() { ::close(socket_); }
  TcpPeer(const TcpPeer&) = delete;
  TcpPeer& operator=(const TcpPeer&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }

 private:
  int socket_;
  bool connected_ = false;
};

TEST(MemoryShortage, IsForgottenByTheListener) {
  Side client, server;
  Listener listener = must(server.device.listen(kAnyPort));
  {
    const Shortage shortage;
    const TcpPeer first(listener.endpoint()), second(listener.endpoint());
    EXPECT_TRUE(first.connected() && second.connected());
    std::this_thread::sleep_for(200ms);
  }
  QueuePair asking = client.make_qp(), answering = server.make_qp();
  ASSERT_TRUE(asking.start_connect(listener.endpoint()));
  auto request = listener.next(kPatience);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->accept(answering));
}

TEST(MemoryShortage, EndsTheAttemptToConnect) {
  Side client, server;
  Listener listener = must(server.device.listen(kAnyPort));
  QueuePair asking = client.make_qp();
  {
    const Shortage shortage;
    const auto connected = asking.connect(listener.endpoint());
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code, std::errc::not_enough_memory);
  }
  EXPECT_EQ(asking.state(), QpState::kError);
}

}  // namespace
}  // namespace iwarp::verbs
