#include <atomic>
#include <cerrno>

#include "rnic_support.hpp"
#include "support/own_new.hpp"

// Where the process has no more memory. A program of its own: operator new fails when it is told
// to.
namespace {

std::atomic<int> refused{0};
std::atomic<bool> is_short{false};
thread_local bool is_adapters = false;    // the thread of the adapter's loop
thread_local long allocations_left = -1;  // of this thread; less than 0: as many as it wants

bool admits() {
  // What plays rdma-core is not under test, and may need memory to end an object.
  if (iwarp::rnic::test::is_inside_library()) return true;
  if (allocations_left > 0) --allocations_left;
  if (allocations_left == 0) return false;
  if (!is_short || !is_adapters) return true;
  ++refused;
  return false;
}

}  // namespace

namespace iwarp::rnic::test {
namespace {

using verbs::QpState;

/// This thread has memory so many times.
class Limit {
 public:
  explicit Limit(long allocations) {
    is_inside_library();
    iwarp::test::ask_at_each_new(&admits);
    allocations_left = allocations + 1;
  }
  ~Limit() { allocations_left = -1; }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  [[nodiscard]] static bool reached() { return allocations_left == 0; }
};

/// The adapter's thread has none.
class Shortage {
 public:
  Shortage() {
    is_inside_library();
    iwarp::test::ask_at_each_new(&admits);
    refused = 0;
    is_short = true;
  }
  /// Whether it has asked for some so often.
  static bool was_felt(int times) {
    return eventually([times] { return refused >= times; });
  }
  ~Shortage() { is_short = false; }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

namespace provider = verbs::provider;

/// What a device makes, below the verbs' handles.
struct Objects {
  std::shared_ptr<provider::Provider> device = open_adapter(kAdapter).value();
  std::shared_ptr<provider::Pd> pd = device->alloc_pd().value();
  std::shared_ptr<provider::Cq> cq = device->create_cq(8).value();
  std::array<std::byte, 64> memory{};

  [[nodiscard]] provider::QpInit init() const {
    provider::QpInit init;
    init.send_cq = init.recv_cq = cq;
    return init;
  }
};

/// Calls it with memory for 0 allocations, for 1 and so on until it has enough; in between it
/// answers ENOMEM, and nothing is left of what it had made.
template <typename Call>
void expect_refusals(const char* what, Call call) {
  constexpr long kMost = 1000;
  const long before = living();
  for (long allocations = 0; allocations < kMost; ++allocations) {
    bool reached = false;
    std::error_code code;
    {
      const Limit limit(allocations);
      auto answer = call();
      reached = Limit::reached();
      if (!answer) code = answer.error().code;
    }
    if (!reached) {
      EXPECT_FALSE(code) << code.message();
      return;
    }
    if (code) {
      EXPECT_EQ(code, std::errc::not_enough_memory) << what << " with memory for " << allocations;
    }
    ASSERT_EQ(living(), before) << what << " with memory for " << allocations;
  }
  FAIL() << "never enough";
}

class WithoutMemory : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(nothing_is_left()) << living(); }
};

TEST_F(WithoutMemory, EachObjectIsRefused) {
  Objects objects;
  provider::Provider& device = *objects.device;
  expect_refusals("PD", [&] { return device.alloc_pd(); });
  expect_refusals("CQ", [&] { return device.create_cq(8); });
  expect_refusals("region", [&] {
    return device.register_memory(objects.pd, objects.memory, verbs::Access::kLocalWrite);
  });
  expect_refusals("SRQ", [&] { return device.create_srq(objects.pd, {}); });
  expect_refusals("QP", [&] { return device.create_qp(objects.pd, objects.init()); });
  expect_refusals("listener", [&] { return device.listen(kLoopback, {}, [](auto) {}); });
}

TEST_F(WithoutMemory, AnAdapterIsNotOpened) {
  { const Objects first; }
  ASSERT_TRUE(nothing_is_left());
  expect_refusals("adapter", [] { return open_adapter(kAdapter); });
}

TEST_F(WithoutMemory, AQueuePairThatCannotAskStaysIdle) {
  Objects objects;
  for (long allocations = 0;; ++allocations) {
    const auto qp = objects.device->create_qp(objects.pd, objects.init()).value();
    const auto nobody = verbs::Endpoint::parse("127.0.0.1:9").value();
    const Limit limit(allocations);
    const auto asked = qp->connect(nobody, {});
    if (asked) break;
    EXPECT_EQ(asked.error().code, std::errc::not_enough_memory);
    EXPECT_EQ(qp->state(), QpState::kIdle);
  }
}

class WithoutMemoryInTheThread : public Adapters {
 protected:
  // Handlers are called on the thread in question.
  void SetUp() override {
    auto marks = pd_.create_qp(cq_, {.on_event = [](const auto&) { is_adapters = true; }}).value();
    const FailingCalls failing("rdma_resolve_addr", ENODEV);
    ASSERT_FALSE(marks.connect(kLoopback));
  }
};

TEST_F(WithoutMemoryInTheThread, TheAttemptToConnectEnds) {
  auto listener = device_.listen(kLoopback).value();
  const std::array receive{region_.sge(0, 8)};
  ASSERT_TRUE(a_.post_receive({.wr_id = 5, .sges = receive}));
  {
    const Shortage shortage;
    ASSERT_TRUE(a_.start_connect(listener.endpoint()));
    ASSERT_TRUE(Shortage::was_felt(1));
  }
  ASSERT_TRUE(eventually([&] { return a_.state() != QpState::kConnecting; }));
  EXPECT_EQ(a_.state(), QpState::kError);
  EXPECT_EQ(a_.diagnosis().sentence, "out of memory");
  const auto flushed = completions(1);
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].wr_id, 5U);
}

TEST_F(WithoutMemoryInTheThread, TheEndIsToldLater) {
  connect();
  const std::array receive{region_.sge(0, 8)};
  for (std::uint64_t id = 0; id < 3; ++id) {
    ASSERT_TRUE(a_.post_receive({.wr_id = id, .sges = receive}));
  }
  {
    const Shortage shortage;
    a_.abort();
    ASSERT_TRUE(Shortage::was_felt(2)) << "it tries again";
  }
  EXPECT_TRUE(a_.wait_disconnected(10s));
  const auto flushed = completions(3);
  ASSERT_EQ(flushed.size(), 3U);
  for (std::uint64_t id = 0; id < 3; ++id) EXPECT_EQ(flushed[id].wr_id, id);
  EXPECT_FALSE(cq_.wait(0ms));
}

}  // namespace
}  // namespace iwarp::rnic::test
