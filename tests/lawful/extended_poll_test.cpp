#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "lawful/polling.hpp"

// ibv_create_cq_ex(3): polling by ibv_start_poll(), ibv_next_poll() and ibv_end_poll().
namespace iwarp::lawful {
namespace {

class ExtendedPoll : public testing::Test {
 protected:
  ~ExtendedPoll() override {
    pair.reset();
    for (ibv_cq_ex* each : queues) ibv_destroy_cq(ibv_cq_ex_to_cq(each));
  }

  // Connects, and has `count` receives filled at the server.
  void connect(std::uint32_t flags, std::size_t count) {
    pair.emplace([&](End& end, ibv_qp_init_attr& attributes) {
      ibv_cq_init_attr_ex wanted{};
      wanted.cqe = 64;
      wanted.wc_flags = IBV_WC_EX_WITH_BYTE_LEN;
      if (flags != 0) wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
      wanted.flags = flags;
      queues.push_back(must(ibv_create_cq_ex(end.id->verbs, &wanted), "ibv_create_cq_ex"));
      attributes.recv_cq = ibv_cq_ex_to_cq(queues.back());
    });
    queue = queues.back();  // the server's: it makes its queue pair when its peer connects
    for (std::uint64_t i = 1; i < count; ++i) ASSERT_EQ(pair->server.post_receive(i), 0);
    fill(pair->client, count);
  }
  // The first that comes, with the queue's poll begun.
  std::uint64_t start() {
    ibv_poll_cq_attr none{};
    int result = ENOENT;
    eventually([&] { return (result = ibv_start_poll(queue, &none)) != ENOENT; });
    EXPECT_EQ(result, 0);
    return queue->wr_id;
  }

  std::vector<ibv_cq_ex*> queues;
  std::optional<Pair> pair;
  ibv_cq_ex* queue = nullptr;
};

// rdma-core: mlx5_start_poll_v1_lock() and irdma_start_poll() hold the queue's lock until
// ibv_end_poll().
TEST_F(ExtendedPoll, OfTwoThreadsTheSecondWaitsForTheEnd) {
  connect(0, 3);
  const std::uint64_t first = start();
  std::atomic<bool> started{false}, ended{false}, came_too_early{true};
  std::atomic<std::uint64_t> other{first};
  std::thread second([&] {
    started = true;
    const std::uint64_t got = start();
    came_too_early = !ended.load();
    other = got;
    ibv_end_poll(queue);
  });
  while (!started.load()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(queue->wr_id, first) << "it is this thread's until ibv_end_poll()";
  ended = true;
  ibv_end_poll(queue);
  second.join();
  EXPECT_FALSE(came_too_early);
  EXPECT_NE(other.load(), first);
}

TEST_F(ExtendedPoll, ThreadsTakeEachCompletionOnce) {
  constexpr std::size_t kCount = 16;
  connect(0, kCount);
  std::mutex mutex;
  std::vector<std::uint64_t> taken;
  const auto take = [&] {
    ibv_poll_cq_attr none{};
    const auto full = [&] {
      const std::lock_guard lock(mutex);
      return taken.size() >= kCount;
    };
    eventually([&] {
      if (ibv_start_poll(queue, &none) == 0) {
        do {
          const std::lock_guard lock(mutex);
          taken.push_back(queue->wr_id);
        } while (ibv_next_poll(queue) == 0);
        ibv_end_poll(queue);
      }
      return full();
    });
  };
  std::thread other(take);
  take();
  other.join();
  std::sort(taken.begin(), taken.end());
  std::vector<std::uint64_t> expected{100};
  for (std::uint64_t i = 1; i < kCount; ++i) expected.push_back(i);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(taken, expected);
}

// ibv_cq_ex_to_cq() allows the mix.
TEST_F(ExtendedPoll, LeavesTheRestToIbvPollCq) {
  connect(IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 3);
  EXPECT_EQ(start(), 100U);
  ibv_end_poll(queue);
  ibv_cq* const plain = ibv_cq_ex_to_cq(queue);
  EXPECT_EQ(completion_of(plain).wr_id, 1U);
  EXPECT_EQ(completion_of(plain).wr_id, 2U);
}

TEST_F(ExtendedPoll, GoesFromOneToTheNext) {
  connect(0, 3);
  EXPECT_EQ(start(), 100U);
  EXPECT_EQ(ibv_wc_read_byte_len(queue), 16U);
  EXPECT_EQ(ibv_wc_read_opcode(queue), IBV_WC_RECV);
  for (std::uint64_t i = 1; i < 3; ++i) {
    int result = ENOENT;
    ASSERT_TRUE(eventually([&] { return (result = ibv_next_poll(queue)) != ENOENT; }));
    EXPECT_EQ(queue->wr_id, i);
  }
  EXPECT_EQ(ibv_next_poll(queue), ENOENT);
  ibv_end_poll(queue);
  ibv_poll_cq_attr none{};
  EXPECT_EQ(ibv_start_poll(queue, &none), ENOENT);
  none.comp_mask = 1;
  EXPECT_EQ(ibv_start_poll(queue, &none), EINVAL);
}

}  // namespace
}  // namespace iwarp::lawful
