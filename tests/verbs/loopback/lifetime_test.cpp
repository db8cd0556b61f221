#include <gtest/gtest.h>

#include "verbs/loopback_support.hpp"

// The end of objects in the middle of traffic, from other threads and from handlers.
namespace iwarp::verbs::test {
namespace {

constexpr std::size_t kStreamSize = 200'000;

// ---- Deregistration ----

enum class Role { kWriteSource, kWriteTarget, kReadSource, kReadSink, kSendSource, kInbox };

std::string name_of(const testing::TestParamInfo<Role>& info) {
  constexpr const char* kNames[] = {"WriteSource", "WriteTarget", "ReadSource",
                                    "ReadSink",    "SendSource",  "Inbox"};
  return kNames[static_cast<std::size_t>(info.param)];
}

class Deregistration : public testing::TestWithParam<Role> {
 protected:
  static bool is_one_of(std::initializer_list<Role> roles) {
    return std::find(roles.begin(), roles.end(), GetParam()) != roles.end();
  }
  SendWr request_for_role() {
    if (is_one_of({Role::kWriteSource, Role::kWriteTarget})) return write_of(1, {&own, 1}, theirs);
    if (is_one_of({Role::kReadSource, Role::kReadSink})) return read_of(1, {&own, 1}, theirs);
    return send_of(1, {&own, 1});
  }
  // A queue pair that has ended takes receives for ever, and flushes them.
  void post_receives() {
    while (pair.server_qp.state() == QpState::kRts &&
           pair.server_qp.post_receive(RecvWr{1, {&inbox, 1}})) {
    }
  }
  // Keeps the connection busy until it ends.
  void keep_busy(const SendWr& request, const std::atomic<bool>& stop) {
    while (!stop.load()) {
      static_cast<void>(pair.client_qp.post_send(request));
      Completion some[8];
      pair.client.cq.poll(some);
    }
  }

  static QpOptions few() {
    QpOptions options;
    options.capacity.max_send_wr = 8;
    return options;
  }
  static constexpr Access kAll = Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead;

  LoopbackPair pair{{}, {}, few()};
  Buffer here{pair.client.pd, kStreamSize, kAll, std::byte{1}};
  Buffer theirs{pair.server.pd, kStreamSize, kAll, std::byte{2}};
  Sge own = here.sge();
  Sge inbox = theirs.sge();
};
INSTANTIATE_TEST_SUITE_P(Roles, Deregistration,
                         testing::Values(Role::kWriteSource, Role::kWriteTarget, Role::kReadSource,
                                         Role::kReadSink, Role::kSendSource, Role::kInbox),
                         name_of);

TEST_P(Deregistration, GivesTheMemoryBackInTheMiddleOfTraffic) {
  post_receives();
  std::atomic<bool> stop{false};
  const SendWr request = request_for_role();
  std::thread client([&] { keep_busy(request, stop); });
  std::thread server([&] {
    while (!stop.load()) {
      Completion some[8];
      pair.server.cq.poll(some);
      post_receives();
    }
  });
  std::this_thread::sleep_for(20ms);
  Buffer& victim =
      is_one_of({Role::kWriteSource, Role::kReadSink, Role::kSendSource}) ? here : theirs;
  victim.region.reset();
  // From here on it is the program's alone: ThreadSanitizer would see any access of the stack's.
  std::fill(victim.memory.begin(), victim.memory.end(), std::byte{0x77});
  std::this_thread::sleep_for(5ms);
  EXPECT_TRUE(std::all_of(victim.memory.begin(), victim.memory.end(),
                          [](std::byte b) { return b == std::byte{0x77}; }));
  // The program that used it is told, and the connection ends.
  EXPECT_TRUE(eventually([&] { return pair.client_qp.wait_disconnected(1ms); }));
  EXPECT_TRUE(eventually([&] { return pair.server_qp.wait_disconnected(1ms); }));
  stop.store(true);
  client.join();
  server.join();
  EXPECT_TRUE(pair.client_qp.terminate_received() || pair.client_qp.terminate_sent());
}

// ---- Queue pairs ----

TEST(Destruction, OfQueuePairsInTheMiddleOfTrafficFromSeveralThreads) {
  constexpr std::size_t kPairs = 6;
  constexpr int kRounds = 2 * kEffort;
  for (int round = 0; round < kRounds; ++round) {
    LoopbackHub hub(kPairs);
    Buffer source(hub.client.pd, kStreamSize, Access::kNone);
    Buffer target(hub.server.pd, kStreamSize, Access::kLocalWrite | Access::kRemoteWrite);
    const Sge from = source.sge();
    for (QueuePair& qp : hub.client_qps) {
      for (std::uint64_t i = 0; i < 20; ++i) {
        ASSERT_TRUE(qp.post_send(write_of(i, {&from, 1}, target)));
      }
    }
    std::atomic<bool> stop{false};
    const auto poll = [&stop](CompletionQueue& cq) {
      while (!stop.load()) {
        Completion some[4];
        cq.poll(some);
      }
    };
    std::thread client_poller([&] { poll(hub.client.cq); });
    std::thread server_poller([&] { poll(hub.server.cq); });
    const auto destroy = [](std::vector<QueuePair>& qps, std::size_t first) {
      for (std::size_t i = first; i < kPairs; i += 2) {
        const QueuePair gone = std::move(qps[i]);
        std::this_thread::sleep_for(500us);
      }
    };
    std::thread one([&] { destroy(hub.client_qps, 0); });
    std::thread other([&] { destroy(hub.server_qps, 1); });
    one.join();
    other.join();
    stop.store(true);
    client_poller.join();
    server_poller.join();
  }
}

TEST(Destruction, OfOneSideIsSeenByTheOtherAsADisconnect) {
  LoopbackPair pair;
  ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{1, {}}));
  { const QueuePair gone = std::move(pair.client_qp); }
  EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
  const auto flushed = poll_for(pair.server.cq, 1);
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].status, Status::kFlushed);
}

TEST(Destruction, OfEverythingElseLeavesAQueuePairItsParts) {
  std::optional<QueuePair> client;
  std::optional<QueuePair> server;
  {
    LoopbackPair pair;
    client.emplace(std::move(pair.client_qp));
    server.emplace(std::move(pair.server_qp));
  }  // devices, domains and completion queues are gone as far as the program is concerned
  EXPECT_TRUE(client->post_send(SendWr{.opcode = Opcode::kWrite}));
  EXPECT_TRUE(eventually([&] { return server->counters().peer_writes == 1; }));
  client.reset();
  EXPECT_TRUE(server->wait_disconnected(kPatience));
}

TEST(Destruction, OfTheDeviceFirstEndsNothing) {
  std::optional<Side> side(std::in_place);
  const CompletionQueue cq = side->cq;
  QueuePair qp = side->make_qp();
  side.reset();
  EXPECT_EQ(qp.state(), QpState::kIdle);
  EXPECT_TRUE(qp.post_receive(RecvWr{1, {}}));
  EXPECT_FALSE(qp.connect(Endpoint(Address::loopback(), 1)));
}

TEST(Destruction, OfAQueuePairThatConnects) {
  Side client;
  Side server;
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  for (int i = 0; i < 20 * kEffort; ++i) {
    QueuePair qp = client.make_qp();
    ASSERT_TRUE(qp.start_connect(listener.endpoint()));
    if (i % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
    if (i % 2 == 1) qp.abort();
  }
}

// ---- Handlers ----

class HandlerDestroys : public testing::TestWithParam<ConnectionEvent::Kind> {};
INSTANTIATE_TEST_SUITE_P(Events, HandlerDestroys,
                         testing::Values(ConnectionEvent::Kind::kEstablished,
                                         ConnectionEvent::Kind::kRejected,
                                         ConnectionEvent::Kind::kFailed,
                                         ConnectionEvent::Kind::kDisconnected));

TEST_P(HandlerDestroys, ItsOwnQueuePair) {
  Side client;
  Side server;
  auto listener = std::optional(must(server.device.listen(Endpoint(Address::loopback(), 0))));
  const Endpoint at = listener->endpoint();
  if (GetParam() == ConnectionEvent::Kind::kFailed) listener.reset();

  const auto mine = std::make_shared<std::optional<QueuePair>>();
  std::atomic<bool> started{false};
  std::atomic<bool> destroyed{false};
  QpOptions options;
  options.on_event = [&, weak = std::weak_ptr(mine)](const ConnectionEvent& event) {
    if (event.kind != GetParam()) return;
    started.wait(false);  // nobody is inside any more
    if (const auto holder = weak.lock()) holder->reset();
    destroyed.store(true);
  };
  mine->emplace(client.make_qp(options));
  ASSERT_TRUE((*mine)->start_connect(at));
  started.store(true);
  started.notify_all();
  QueuePair theirs = server.make_qp();
  if (listener) {
    auto request = listener->next(kPatience);
    ASSERT_TRUE(request);
    if (GetParam() == ConnectionEvent::Kind::kRejected) {
      EXPECT_TRUE(request->reject());
    } else {
      static_cast<void>(request->accept(theirs));
      if (GetParam() == ConnectionEvent::Kind::kDisconnected) theirs.disconnect();
    }
  }
  EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
}

TEST(Handlers, MayPostAndDisconnect) {
  Side client;
  Side server;
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  const auto mine = std::make_shared<std::optional<QueuePair>>();
  // Shared: the last event may still be told when the test is over.
  const auto started = std::make_shared<std::atomic<bool>>(false);
  QpOptions options;
  options.on_event = [started, weak = std::weak_ptr(mine)](const ConnectionEvent& event) {
    started->wait(false);
    const auto holder = weak.lock();
    if (!holder || event.kind != ConnectionEvent::Kind::kEstablished) return;
    EXPECT_TRUE((*holder)->post_send(send_of(5, {})));
    (*holder)->disconnect();
  };
  mine->emplace(client.make_qp(options));
  QueuePair theirs = server.make_qp();
  ASSERT_TRUE(theirs.post_receive(RecvWr{6, {}}));
  ASSERT_TRUE((*mine)->start_connect(listener.endpoint()));
  started->store(true);
  started->notify_all();
  auto request = listener.next(kPatience);
  ASSERT_TRUE(request);
  ASSERT_TRUE(request->accept(theirs));
  const auto received = server.cq.wait(kPatience);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_TRUE((*mine)->wait_disconnected(kPatience));
  EXPECT_TRUE(theirs.wait_disconnected(kPatience));
}

}  // namespace
}  // namespace iwarp::verbs::test
