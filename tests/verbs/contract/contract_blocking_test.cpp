// What every provider promises of the calls that wait, and of descriptors of the kernel: in worlds
// with real time.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 30s;

class BlockingContract : public Contract {
 protected:
  // Connects as programs do that wait, from two threads.
  void connect_blocking(End& from, End& to) {
    auto listener = world->server().listen(world->listen_at()).value();
    Outcome<ConnectionInfo> accepted = fail(std::errc::timed_out, "no request came");
    std::thread accepting([&] {
      if (auto request = listener.next(kLong)) accepted = request->accept(*to.qp);
    });
    const auto connected = from.qp->connect(listener.endpoint());
    accepting.join();
    ASSERT_TRUE(connected) << connected.error().message;
    ASSERT_TRUE(accepted) << accepted.error().message;
    EXPECT_EQ(connected->local, accepted->remote);
    EXPECT_EQ(connected->remote, accepted->local);
  }
  End left{client}, right{server};
};
IWARP_IN_EVERY_WORLD(BlockingContract);

TEST_P(BlockingContract, ConnectAndAcceptReturnTheConnection) {
  connect_blocking(left, right);
  expect_service(left, right);
}

TEST_P(BlockingContract, ConnectReturnsTheRefusal) {
  const auto refused = left.qp->connect({world->listen_at().address(), 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::connection_refused) << refused.error().message;
}

TEST_P(BlockingContract, NextReturnsWithoutARequestWhenTheTimeIsOver) {
  auto listener = world->server().listen(world->listen_at()).value();
  EXPECT_FALSE(listener.next(0ms));
  EXPECT_FALSE(listener.next(5ms));
}

TEST_P(BlockingContract, WaitReturnsTheCompletion) {
  connect_blocking(left, right);
  post(right, RecvWr{7, {}});
  post(left, send_of(8, {}));
  const auto sent = client.send_cq->wait(kLong);
  const auto received = server.recv_cq->wait(kLong);
  ASSERT_TRUE(sent && received);
  EXPECT_EQ(sent->wr_id, 8U);
  EXPECT_EQ(received->wr_id, 7U);
}

TEST_P(BlockingContract, WaitReturnsWithoutOneWhenTheTimeIsOver) {
  connect_blocking(left, right);
  EXPECT_FALSE(server.recv_cq->wait(0ms));
  EXPECT_FALSE(server.recv_cq->wait(5ms));
}

TEST_P(BlockingContract, AWaitEndsWithTheConnection) {
  connect_blocking(left, right);
  post(right, RecvWr{7, {}});
  std::optional<Completion> flushed;
  std::thread waiting([&] { flushed = server.recv_cq->wait(kLong); });
  left.qp->disconnect();
  waiting.join();
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, Status::kFlushed);
}

TEST_P(BlockingContract, WaitDisconnectedReturnsAtTheEnd) {
  connect_blocking(left, right);
  EXPECT_FALSE(left.qp->wait_disconnected(1ms));
  right.qp->disconnect();
  EXPECT_TRUE(left.qp->wait_disconnected(kLong));
  EXPECT_TRUE(right.qp->wait_disconnected(kLong));
}

TEST_P(BlockingContract, DrainReturnsWhenAllHasCompleted) {
  connect_blocking(left, right);
  for (std::uint64_t i = 0; i < 5; ++i) post(left, RecvWr{i, {}});
  EXPECT_TRUE(left.qp->drain(kLong));
  client.collect();
  EXPECT_EQ(statuses(client.received), std::vector<Status>(5, Status::kFlushed));
}

TEST_P(BlockingContract, AnEventWakesAThreadThatSleepsAtTheDescriptor) {
  connect_blocking(left, right);
  post(right, RecvWr{7, {}});
  server.recv_cq->arm();
  pollfd one{server.recv_cq->event_descriptor(), POLLIN, 0};
  int woken = 0;
  std::thread sleeping(
      [&] { woken = ::poll(&one, 1, static_cast<int>(std::chrono::milliseconds(kLong).count())); });
  post(left, send_of(8, {}));
  sleeping.join();
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(server.recv_cq->take_event());
}

TEST_P(BlockingContract, ACompletionShowsAtTheWaitDescriptor) {
  connect_blocking(left, right);
  post(right, RecvWr{7, {}});
  post(left, send_of(8, {}));
  Completion received;
  const bool came = world->until([&] {
    if (server.recv_cq->poll({&received, 1}) == 1) return true;
    CompletionQueue& cq = *server.recv_cq;
    pollfd one{cq.wait_descriptor(), POLLIN, 0};
    const bool again = cq.begin_wait();
    const bool polled = again && cq.poll({&received, 1}) == 1;
    if (!polled) ::poll(&one, 1, 1000);
    cq.end_wait();
    return polled;
  });
  ASSERT_TRUE(came);
  EXPECT_EQ(received.wr_id, 7U);
}

// One that ends its wait takes the event that both would have woken for.
TEST_P(BlockingContract, TheEndOfAWaitLeavesTheOthersWaiting) {
  connect_blocking(left, right);
  for (const std::uint64_t id : {1U, 2U}) post(right, RecvWr{id, {}});
  CompletionQueue& cq = *server.recv_cq;
  Completion received;
  const auto shows = [&] {
    pollfd one{cq.wait_descriptor(), POLLIN, 0};
    return ::poll(&one, 1, static_cast<int>(std::chrono::milliseconds(kLong).count())) == 1;
  };
  // The descriptor may show what only poll() moves on.
  const auto arrives = [&] {
    return world->until([&] { return shows() && cq.poll({&received, 1}) == 1; });
  };
  cq.begin_wait();
  cq.begin_wait();
  post(left, send_of(8, {}));
  ASSERT_TRUE(arrives());
  EXPECT_EQ(received.wr_id, 1U);
  cq.end_wait();
  post(left, send_of(8, {}));
  ASSERT_TRUE(arrives());
  EXPECT_EQ(received.wr_id, 2U);
  cq.end_wait();
}

TEST_P(BlockingContract, ThreadsWaitAtAQueueTogether) {
  connect_blocking(left, right);
  constexpr std::uint64_t kMessages = 60;
  for (std::uint64_t id = 0; id < kMessages; ++id) post(right, RecvWr{id, {}});
  CompletionQueue& cq = *server.recv_cq;
  std::atomic<std::uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      const auto until = std::chrono::steady_clock::now() + kLong;
      const int descriptor = cq.wait_descriptor();
      Completion one;
      while (taken < kMessages && std::chrono::steady_clock::now() < until) {
        const bool again = cq.begin_wait();
        const bool polled = again && cq.poll({&one, 1}) == 1;
        pollfd ready{descriptor, POLLIN, 0};
        // Shorter than what is left: the last completion wakes the thread that takes it.
        if (!polled && taken < kMessages) ::poll(&ready, 1, 500);
        cq.end_wait();
        if (polled || cq.poll({&one, 1}) == 1) ++taken;
      }
    });
  }
  for (std::uint64_t sent = 0; sent < kMessages; ++sent) {
    post(left, send_of(8, {}));
    EXPECT_TRUE(world->until([&] { return taken > sent; })) << sent;
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, kMessages);
}

// A connected pair of TCP sockets over that address.
std::pair<StreamingSocket, StreamingSocket> tcp_pair(Endpoint at) {
  const int listener = ::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(listener, at.data(), at.size()), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  socklen_t size = Endpoint::capacity();
  EXPECT_EQ(::getsockname(listener, at.data(), &size), 0);
  StreamingSocket client(::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(client.descriptor(), at.data(), at.size()), 0);
  StreamingSocket server(::accept(listener, nullptr, nullptr));
  ::close(listener);
  return {std::move(client), std::move(server)};
}

TEST_P(BlockingContract, ConnectedSocketsAreAdoptedOrRefused) {
  auto [near, far] = tcp_pair(world->listen_at());
  if (!can(Capability::kAdoptsSockets)) {
    EXPECT_EQ(refusal(left.qp->start_adopt(near)), std::errc::not_supported);
    EXPECT_TRUE(static_cast<bool>(near)) << "it is the caller's as before";
    return;
  }
  ASSERT_TRUE(left.qp->start_adopt(near));
  EXPECT_FALSE(static_cast<bool>(near));
  auto request = world->server().await_request(far);
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_TRUE(request->accept(*right.qp));
  ASSERT_TRUE(until([&] { return left.told->has(Kind::kEstablished); }));
  expect_service(left, right);
}

TEST_P(BlockingContract, ACaptureIsWrittenOrRefused) {
  std::string pattern_of_name = (std::filesystem::temp_directory_path() / "contract.XXXXXX");
  ASSERT_NE(::mkdtemp(pattern_of_name.data()), nullptr);
  const std::filesystem::path directory = pattern_of_name;
  QpOptions options;
  options.capture = directory;
  if (can(Capability::kCapture)) {
    End recorded(client, std::move(options));
    ASSERT_TRUE(connect(recorded, right));
    expect_service(recorded, right);
    EXPECT_TRUE(until([&] { return !std::filesystem::is_empty(directory); }));
  } else {
    EXPECT_EQ(refusal(client.pd->create_qp(*client.send_cq, options)), std::errc::not_supported);
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace iwarp::verbs::contract
