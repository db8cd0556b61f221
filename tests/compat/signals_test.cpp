#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "compat/pair.hpp"

// Signals: whom they reach, and what they do to a call that waits.
namespace iwarp::compat_test {
namespace {

using namespace std::chrono_literals;

std::atomic<int> handled{0};

// A handler of SIGUSR1, until it goes.
class Handler {
 public:
  explicit Handler(int flags) {
    struct sigaction action {};
    action.sa_handler = [](int) { ++handled; };
    action.sa_flags = flags;
    ::sigaction(SIGUSR1, &action, &before_);
    handled = 0;
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  ~Handler() { ::sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

void wait_for(const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!done() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(done());
}

// A thread in a call that returns an int and sets errno.
class Call {
 public:
  explicit Call(std::function<int()> call)
      : thread_([this, call = std::move(call)] {
          id_ = pthread_self();
          started_ = true;
          result_ = call();
          error_ = errno;
          over_ = true;
        }) {}
  ~Call() { thread_.join(); }
  void signal() {
    wait_for([this] { return started_.load(); });
    std::this_thread::sleep_for(20ms);  // until it waits; if it is not there yet it waits later
    const int before = handled;
    ASSERT_EQ(pthread_kill(id_, SIGUSR1), 0);
    wait_for([before] { return handled > before; });
  }
  [[nodiscard]] bool over() const { return over_; }
  int result() {
    wait_for([this] { return over_.load(); });
    return result_;
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  std::atomic<bool> started_{false}, over_{false};
  std::atomic<int> result_{0}, error_{0};
  pthread_t id_{};
  std::thread thread_;
};

int get_cq_event(End& end) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  const int result = ibv_get_cq_event(end.id->recv_cq_channel, &cq, &context);
  if (result == 0) ibv_ack_cq_events(cq, 1);
  return result;
}

std::set<std::string> threads() {
  std::set<std::string> all;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    all.insert(each.path());
  }
  return all;
}

bool blocks(const std::string& thread, int signal) {
  std::ifstream status(thread + "/status");
  std::string word;
  while (status >> word && word != "SigBlk:") {
  }
  std::uint64_t mask = 0;
  status >> std::hex >> mask;
  return (mask >> (signal - 1) & 1U) != 0;
}

// A program that blocks a signal in its threads waits for it, or is not to be disturbed.
TEST(Signals, AreNotTakenByThreadsOfTheLibrary) {
  std::thread([] {}).join();  // with the first thread a sanitizer may start one of its own
  const auto before = threads();
  Pair pair;
  int ours = 0;
  for (const std::string& thread : threads()) {
    if (before.contains(thread)) continue;
    ++ours;
    for (const int signal : {SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPROF}) {
      EXPECT_TRUE(blocks(thread, signal)) << signal;
    }
    EXPECT_FALSE(blocks(thread, SIGSEGV)) << "a crash is to be seen";
  }
  if (ours == 0) GTEST_SKIP() << "another test has started the library's threads";
}

TEST(Signals, WithRestartingHandlersLetWaitsGoOn) {
  const Handler handler(SA_RESTART);
  Pair pair;
  ASSERT_EQ(ibv_req_notify_cq(pair.server.id->recv_cq, 0), 0);
  Call call([&] { return get_cq_event(pair.server); });
  for (int i = 0; i < 3; ++i) call.signal();
  EXPECT_FALSE(call.over());
  ASSERT_EQ(pair.client.post_send(1, pair.client.sge()), 0);
  EXPECT_EQ(call.result(), 0);
}

TEST(Signals, WithOtherHandlersEndWaitsForCompletions) {
  const Handler handler(0);
  Pair pair;
  ASSERT_EQ(ibv_req_notify_cq(pair.server.id->recv_cq, 0), 0);
  Call call([&] { return get_cq_event(pair.server); });
  while (!call.over()) call.signal();
  EXPECT_EQ(call.result(), -1);
  EXPECT_EQ(call.error(), EINTR);
}

TEST(Signals, WithOtherHandlersEndWaitsForEvents) {
  const Handler handler(0);
  rdma_event_channel* const channel =
      must(rdma_create_event_channel(), "rdma_create_event_channel");
  {
    Call call([&] {
      rdma_cm_event* event = nullptr;
      return rdma_get_cm_event(channel, &event);
    });
    while (!call.over()) call.signal();
    EXPECT_EQ(call.result(), -1);
    EXPECT_EQ(call.error(), EINTR);
  }
  rdma_destroy_event_channel(channel);
}

}  // namespace
}  // namespace iwarp::compat_test
