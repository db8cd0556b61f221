#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

#include "verbs/loopback_support.hpp"

// Where the process has no more memory, for a while: what comes meanwhile fails, and what comes
// afterwards does not.
namespace {

std::atomic<bool> is_short{false};
thread_local bool is_spared = false;  // the test's own thread

}  // namespace

// In front of the library's. Not inlined: the compiler takes new and free for a mismatch then.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (is_short && !is_spared) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace iwarp::verbs {
namespace {

using namespace test;
using namespace std::chrono_literals;

/// For threads that are not this one.
class Shortage {
 public:
  Shortage() {
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
