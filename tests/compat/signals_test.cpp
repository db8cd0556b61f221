#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "compat/pair.hpp"
#include "support/interrupted_call.hpp"

// Signals: which threads they reach, and what they do to a call that waits.
namespace iwarp::compat_test {
namespace {

using test::InterruptedCall;
using test::SignalHandler;

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

// The signals that a thread blocks; none if it has ended.
std::optional<std::uint64_t> blocked_by(const std::string& thread) {
  std::ifstream status(thread + "/status");
  std::string word;
  while (status >> word && word != "SigBlk:") {
  }
  std::uint64_t mask = 0;
  if (!(status >> std::hex >> mask)) return std::nullopt;
  return mask;
}

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kOfFaults = bit_of(SIGSEGV) | bit_of(SIGFPE) | bit_of(SIGILL);

// A thread that begins blocks all of them, until the C library gives it its own set.
std::optional<std::uint64_t> blocked_once_begun(const std::string& thread) {
  for (;;) {
    const auto mask = blocked_by(thread);
    if (!mask || (*mask & kOfFaults) != kOfFaults) return mask;
    std::this_thread::yield();
  }
}

// A program that blocks a signal in its threads waits for it, or is not to be disturbed.
TEST(Signals, AreNotTakenByThreadsOfTheLibrary) {
  std::thread([] {}).join();  // with the first thread a sanitizer may start one of its own
  const auto before = threads();
  Pair pair;
  int ours = 0;
  for (const std::string& thread : threads()) {
    if (before.contains(thread)) continue;
    const auto blocked = blocked_once_begun(thread);
    if (!blocked) continue;
    ++ours;
    for (const int signal : {SIGTERM, SIGALRM, SIGCHLD, SIGUSR1, SIGPROF}) {
      EXPECT_NE(*blocked & bit_of(signal), 0U) << signal;
    }
    EXPECT_EQ(*blocked & kOfFaults, 0U) << "a crash is to be seen";
  }
  if (ours == 0) GTEST_SKIP() << "another test has started the library's threads";
}

TEST(Signals, WithRestartingHandlersLetWaitsGoOn) {
  const SignalHandler handler(SA_RESTART);
  Pair pair;
  ASSERT_EQ(ibv_req_notify_cq(pair.server.id->recv_cq, 0), 0);
  InterruptedCall call([&] { return get_cq_event(pair.server); });
  for (int i = 0; i < 3; ++i) call.signal();
  EXPECT_FALSE(call.over());
  ASSERT_EQ(pair.client.post_send(1, pair.client.sge()), 0);
  EXPECT_EQ(call.result(), 0);
}

TEST(Signals, WithOtherHandlersEndWaitsForCompletions) {
  const SignalHandler handler(0);
  Pair pair;
  ASSERT_EQ(ibv_req_notify_cq(pair.server.id->recv_cq, 0), 0);
  InterruptedCall call([&] { return get_cq_event(pair.server); });
  call.signal_until_over();
  EXPECT_EQ(call.result(), -1);
  EXPECT_EQ(call.error(), EINTR);
}

TEST(Signals, WithOtherHandlersEndWaitsForEvents) {
  const SignalHandler handler(0);
  rdma_event_channel* const channel =
      must(rdma_create_event_channel(), "rdma_create_event_channel");
  {
    InterruptedCall call([&] {
      rdma_cm_event* event = nullptr;
      return rdma_get_cm_event(channel, &event);
    });
    call.signal_until_over();
    EXPECT_EQ(call.result(), -1);
    EXPECT_EQ(call.error(), EINTR);
  }
  rdma_destroy_event_channel(channel);
}

}  // namespace
}  // namespace iwarp::compat_test
