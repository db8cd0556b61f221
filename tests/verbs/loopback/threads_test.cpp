#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <set>

#include "verbs/loopback_support.hpp"

// Several threads at one object.
namespace iwarp::verbs::test {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kEach = 150 * kEffort;
constexpr std::size_t kAll = kThreads * kEach;

QpOptions roomy() {
  QpOptions options;
  options.capacity.max_recv_wr = kAll;
  options.capacity.max_send_wr = 64;
  return options;
}

// What a message says: the thread that posted it, and which of that thread's it is.
struct Note {
  std::uint32_t thread = 0, number = 0;
};

SendWr inline_note(std::uint64_t id, const Sge& sge) {
  SendWr request = send_of(id, {&sge, 1});
  request.flags = SendFlags::kSignaled | SendFlags::kInline;
  return request;
}

void post_until_taken(QueuePair& qp, const SendWr& request) {
  eventually([&] { return static_cast<bool>(qp.post_send(request)); },
             [] { std::this_thread::yield(); });
}

class Threads : public testing::Test {
 protected:
  void post_receives() {
    for (std::size_t i = 0; i < kAll; ++i) {
      const Sge to = inbox.sge(i * sizeof(Note), sizeof(Note));
      ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {&to, 1}}));
    }
  }
  // Each thread posts its own notes, in order.
  void post_notes(std::uint32_t thread) {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      Note note{thread, i};
      const Sge from{&note, sizeof note, Stag{0}};
      post_until_taken(pair.client_qp, inline_note(thread * kEach + i, from));
    }
  }
  void run_posters() {
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      posters.emplace_back([this, t] { post_notes(t); });
    }
  }
  // Every note once, those of a thread in order.
  void check_notes(const std::vector<Completion>& received) {
    ASSERT_EQ(received.size(), kAll);
    std::vector<std::uint32_t> next(kThreads, 0);
    for (const Completion& completion : received) {
      ASSERT_EQ(completion.status, Status::kSuccess);
      Note note;
      std::memcpy(&note, inbox.memory.data() + completion.wr_id * sizeof note, sizeof note);
      ASSERT_LT(note.thread, kThreads);
      EXPECT_EQ(note.number, next[note.thread]++);
    }
  }
  static void expect_each_once(const std::vector<std::vector<Completion>>& parts) {
    std::set<std::uint64_t> seen;
    for (const auto& part : parts) {
      for (const Completion& completion : part) {
        EXPECT_EQ(completion.status, Status::kSuccess);
        EXPECT_TRUE(seen.insert(completion.wr_id).second) << completion.wr_id << " twice";
      }
    }
    EXPECT_EQ(seen.size(), kAll);
  }

  LoopbackPair pair{{}, {}, roomy()};
  Buffer inbox{pair.server.pd, kAll * sizeof(Note), Access::kLocalWrite};
  std::vector<std::thread> posters;
};

TEST_F(Threads, SeveralPostToOneQueuePair) {
  post_receives();
  run_posters();
  std::vector<Completion> received;
  std::thread server([&] { received = poll_for(pair.server.cq, kAll); });
  const auto sent = poll_for(pair.client.cq, kAll);
  for (std::thread& poster : posters) poster.join();
  server.join();
  check_notes(received);
  expect_each_once({sent});
}

TEST_F(Threads, SeveralPollOneCompletionQueue) {
  post_receives();
  std::atomic<std::size_t> total{0};
  std::vector<std::vector<Completion>> parts(kThreads);
  std::vector<std::thread> pollers;
  for (auto& part : parts) {
    pollers.emplace_back([&] {
      eventually([&] { return total.load() >= kAll; },
                 [&] {
                   Completion some[7];
                   const std::size_t taken = pair.client.cq.poll(some);
                   part.insert(part.end(), some, some + taken);
                   total.fetch_add(taken);
                 });
    });
  }
  for (std::uint32_t t = 0; t < kThreads; ++t) post_notes(t);
  const auto received = poll_for(pair.server.cq, kAll);
  for (std::thread& poller : pollers) poller.join();
  check_notes(received);
  expect_each_once(parts);
  for (const auto& part : parts) {
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end(), [](const auto& a, const auto& b) {
      return a.wr_id < b.wr_id;
    })) << "a thread got completions out of order";
  }
}

TEST_F(Threads, SeveralPostAndSeveralPollAtOnce) {
  post_receives();
  run_posters();
  std::atomic<std::size_t> total{0};
  std::vector<std::vector<Completion>> parts(kThreads);
  std::vector<std::thread> pollers;
  for (auto& part : parts) {
    pollers.emplace_back([&] {
      eventually([&] { return total.load() >= kAll; },
                 [&] {
                   if (auto one = pair.client.cq.wait(5ms)) {
                     part.push_back(*one);
                     total.fetch_add(1);
                   }
                 });
    });
  }
  const auto received = poll_for(pair.server.cq, kAll);
  for (std::thread& poster : posters) poster.join();
  for (std::thread& poller : pollers) poller.join();
  check_notes(received);
  expect_each_once(parts);
}

TEST_F(Threads, SeveralPostReceives) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const std::size_t id = t * kEach + i;
        const Sge to = inbox.sge(id * sizeof(Note), sizeof(Note));
        EXPECT_TRUE(pair.server_qp.post_receive(RecvWr{id, {&to, 1}}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  run_posters();
  std::thread client([&] { poll_for(pair.client.cq, kAll); });
  const auto received = poll_for(pair.server.cq, kAll);
  for (std::thread& poster : posters) poster.join();
  client.join();
  check_notes(received);
}

TEST_F(Threads, BothSidesAtOnceFromSeveralThreads) {
  Buffer here(pair.client.pd, 1 << 16, Access::kLocalWrite | Access::kRemoteWrite);
  Buffer there(pair.server.pd, 1 << 16, Access::kLocalWrite | Access::kRemoteWrite);
  const auto write_all = [](QueuePair& qp, CompletionQueue& cq, Buffer& own, Buffer& peers) {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const Sge from = own.sge(t * 4096, 4096);
        for (std::size_t i = 0; i < kEach; ++i) {
          // Into the upper half, which is nobody's source.
          post_until_taken(qp, write_of(t * kEach + i, {&from, 1}, peers, (8 + t) * 4096));
        }
      });
    }
    const auto done = poll_for(cq, kAll);
    for (std::thread& thread : threads) thread.join();
    expect_each_once({done});
  };
  std::thread server([&] { write_all(pair.server_qp, pair.server.cq, there, here); });
  write_all(pair.client_qp, pair.client.cq, here, there);
  server.join();
}

// Completions that come together are enough for as many sleepers: each takes one and goes.
TEST_F(Threads, EachSleeperIsWokenForACompletionOfItsOwn) {
  constexpr int kRounds = 25 * kEffort;
  std::barrier round(static_cast<std::ptrdiff_t>(kThreads) + 1);
  std::atomic<std::size_t> woken{0};
  std::vector<std::thread> sleepers;
  for (std::size_t t = 0; t < kThreads; ++t) {
    sleepers.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        round.arrive_and_wait();
        if (pair.server.cq.wait(kPatience)) woken.fetch_add(1);
        round.arrive_and_wait();
      }
    });
  }
  std::vector<SendWr> batch(kThreads);
  for (SendWr& request : batch) request.flags = SendFlags::kNone;
  for (int i = 0; i < kRounds; ++i) {
    for (std::size_t t = 0; t < kThreads; ++t) {
      ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{t, {}}));
    }
    round.arrive_and_wait();
    std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(pair.client_qp.post_send(batch));
    round.arrive_and_wait();
  }
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(woken.load(), kThreads * kRounds);
}

// An abort from one thread meets whatever the others are in the middle of.
TEST(ThreadsAndEnds, AbortInTheMiddleCompletesEverythingOnce) {
  constexpr int kRounds = 8 * kEffort;
  for (int round = 0; round < kRounds; ++round) {
    LoopbackPair pair;
    Buffer inbox(pair.server.pd, 64, Access::kLocalWrite);
    const Sge to = inbox.sge();
    constexpr std::size_t kReceives = 128;
    for (std::size_t i = 0; i < kReceives; ++i) {
      ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {&to, 1}}));
    }
    std::atomic<std::size_t> posted{0};
    std::atomic<bool> stop{false};
    std::thread poster([&] {
      std::byte data[64]{};
      const Sge from{data, sizeof data, Stag{0}};
      for (std::size_t i = 0; i < kReceives && !stop.load(); ++i) {
        if (pair.client_qp.post_send(inline_note(i, from))) posted.fetch_add(1);
      }
    });
    std::thread client_poller([&] {
      std::size_t taken = 0;
      EXPECT_TRUE(eventually([&] { return stop.load() && taken >= posted.load(); },
                             [&] {
                               Completion some[4];
                               taken += pair.client.cq.poll(some);
                             }));
      EXPECT_EQ(taken, posted.load());
    });
    std::thread server_poller(
        [&] { EXPECT_EQ(poll_for(pair.server.cq, kReceives).size(), kReceives); });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    (round % 2 == 0 ? pair.server_qp : pair.client_qp).abort();
    poster.join();
    EXPECT_TRUE(pair.client_qp.wait_disconnected(kPatience));
    EXPECT_TRUE(pair.server_qp.wait_disconnected(kPatience));
    stop.store(true);
    client_poller.join();
    server_poller.join();
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
