#include <gtest/gtest.h>

#include <deque>

#include "verbs/loopback_support.hpp"

// Many queue pairs on one completion queue: more than a poll looks at one by one.
namespace iwarp::verbs::test {
namespace {

constexpr std::size_t kMany = 40;

std::size_t index_of(const std::vector<QueuePair>& qps, std::uint32_t number) {
  const auto at = std::find_if(qps.begin(), qps.end(),
                               [number](const QueuePair& qp) { return qp.number() == number; });
  return static_cast<std::size_t>(at - qps.begin());
}

// Counts completions by queue pair until each has `due`, driving both sides from one thread.
class Tally {
 public:
  explicit Tally(LoopbackHub& hub) : hub_(hub) {}

  bool reach(std::size_t client_due, std::size_t server_due) {
    const auto everywhere = [](const std::vector<std::size_t>& counts, std::size_t due) {
      return std::all_of(counts.begin(), counts.end(), [due](std::size_t n) { return n >= due; });
    };
    return eventually(
        [&] { return everywhere(client_, client_due) && everywhere(server_, server_due); },
        [&] {
          take(hub_.client.cq, hub_.client_qps, client_);
          take(hub_.server.cq, hub_.server_qps, server_);
        });
  }

 private:
  static void take(CompletionQueue& cq, const std::vector<QueuePair>& qps,
                   std::vector<std::size_t>& counts) {
    Completion some[16];
    const std::size_t taken = cq.poll(some);
    for (const Completion& completion : std::span(some).first(taken)) {
      EXPECT_EQ(completion.status, Status::kSuccess);
      ++counts.at(index_of(qps, completion.qp_number));
    }
  }

  LoopbackHub& hub_;
  std::vector<std::size_t> client_ = std::vector<std::size_t>(kMany, 0);
  std::vector<std::size_t> server_ = std::vector<std::size_t>(kMany, 0);
};

TEST(Many, EveryQueuePairOfOneQueueIsServedByItsPoller) {
  LoopbackHub hub(kMany);
  constexpr std::size_t kRounds = 20;
  for (QueuePair& qp : hub.server_qps) {
    for (std::size_t i = 0; i < 3 * kRounds; ++i) ASSERT_TRUE(qp.post_receive(RecvWr{i, {}}));
  }
  Tally tally(hub);
  for (std::size_t round = 1; round <= kRounds; ++round) {
    for (QueuePair& qp : hub.client_qps) {
      // One by one, so that all but the first might be left for a poll to send.
      for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(qp.post_send(send_of(i, {})));
    }
    ASSERT_TRUE(tally.reach(3 * round, 3 * round)) << "stuck in round " << round;
  }
}

TEST(Many, FullSocketsAreSentOnWhileTheirQueueIsPolled) {
  constexpr std::size_t kSize = 3 << 20;
  LoopbackHub hub(kMany);
  Buffer source(hub.client.pd, kSize, Access::kNone, std::byte{0x21});
  Buffer target(hub.server.pd, kSize, Access::kLocalWrite | Access::kRemoteWrite);
  const Sge from = source.sge();
  for (QueuePair& qp : hub.client_qps) ASSERT_TRUE(qp.post_send(write_of(1, {&from, 1}, target)));
  Tally tally(hub);
  EXPECT_TRUE(tally.reach(1, 0));
  EXPECT_TRUE(eventually([&] {
    return std::all_of(hub.server_qps.begin(), hub.server_qps.end(),
                       [](const QueuePair& qp) { return qp.counters().peer_writes == 1; });
  }));
  EXPECT_EQ(target.last(), std::byte{0x21});
}

TEST(Many, SleeperOnTheirQueueIsWokenByEachOfThem) {
  LoopbackHub hub(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(hub.server_qps[i].post_receive(RecvWr{i, {}}));
    const std::uint32_t number = hub.server_qps[i].number();
    std::thread sender([&] { EXPECT_TRUE(hub.client_qps[i].post_send(send_of(i, {}))); });
    const auto received = hub.server.cq.wait(kPatience);
    sender.join();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->qp_number, number);
  }
}

TEST(Many, QueuePairsComeAndGoWhileTheirQueueIsPolled) {
  Side client(8192);
  Side server(8192);
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  std::atomic<bool> stop{false};
  std::thread poller([&] {
    Completion some[8];
    while (!stop.load()) {
      client.cq.poll(some);
      server.cq.poll(some);
    }
  });
  constexpr std::size_t kAtOnce = 20;
  std::deque<QueuePair> clients;
  std::deque<QueuePair> servers;
  for (std::size_t i = 0; i < 30 * kEffort; ++i) {
    servers.push_back(server.make_qp());
    clients.push_back(client.make_qp());
    std::thread acceptor([&] {
      auto request = listener.next(kPatience);
      if (request) {
        EXPECT_TRUE(request->accept(servers.back()));
      }
    });
    EXPECT_TRUE(clients.back().connect(listener.endpoint()));
    acceptor.join();
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(clients.back().post_send(SendWr{.opcode = Opcode::kWrite}));
    }
    if (clients.size() > kAtOnce) {
      clients.pop_front();
      servers.pop_front();
    }
  }
  // What was posted last was sent although others came and went.
  EXPECT_TRUE(eventually([&] {
    return std::all_of(servers.begin(), servers.end(),
                       [](const QueuePair& qp) { return qp.counters().peer_writes == 3; });
  }));
  stop.store(true);
  poller.join();
}

TEST(Many, ListenerTakesClientsThatComeAllAtOnce) {
  Side server;
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  constexpr std::size_t kClients = 24;
  std::atomic<std::size_t> served{0};
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      Side client(16);
      QueuePair qp = client.make_qp();
      ConnectOptions options;
      options.private_data = {std::byte(i)};
      options.timeout = kPatience;
      const auto connected = qp.connect(listener.endpoint(), options);
      ASSERT_TRUE(connected) << connected.error().message;
      EXPECT_EQ(connected->private_data, std::vector{std::byte(i)});
      if (connected) served.fetch_add(1);
    });
  }
  std::vector<QueuePair> qps;
  for (std::size_t i = 0; i < kClients; ++i) {
    auto request = listener.next(kPatience);
    ASSERT_TRUE(request);
    ConnectOptions options;
    options.private_data.assign(request->private_data().begin(), request->private_data().end());
    qps.push_back(server.make_qp());
    // A client that has gone already is none of this test's business.
    static_cast<void>(request->accept(qps.back(), options));
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(served.load(), kClients);
}

}  // namespace
}  // namespace iwarp::verbs::test
