// What every device promises about timers and posted tasks.
#include <chrono>

#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

class TimerContract : public Contract {};
IWARP_ON_EVERY_DEVICE(TimerContract);

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

TEST_P(TimerContract, ATimerEndsNotBeforeItsTime) {
  Device& device = harness_->client();
  const auto timer = device.make_timer();
  const auto start = device.now();
  Outcome waited;
  timer->async_wait(20ms, waited.waiting());
  ASSERT_TRUE(run_until([&] { return waited.calls == 1; }));
  EXPECT_FALSE(waited.error);
  EXPECT_GE(device.now() - start, 20ms);
}

TEST_P(TimerContract, AWaitOfNoTimeDoesNotCallInline) {
  const auto timer = harness_->client().make_timer();
  Outcome waited;
  timer->async_wait(0ms, waited.waiting());
  EXPECT_EQ(waited.calls, 0);
  ASSERT_TRUE(run_until([&] { return waited.calls == 1; }));
  EXPECT_FALSE(waited.error);
}

TEST_P(TimerContract, TimersEndInTheOrderOfTheirTimes) {
  const auto late = harness_->client().make_timer();
  const auto early = harness_->client().make_timer();
  std::vector<int> order;
  late->async_wait(15ms, [&](std::error_code) { order.push_back(2); });
  early->async_wait(5ms, [&](std::error_code) { order.push_back(1); });
  ASSERT_TRUE(run_until([&] { return order.size() == 2; }));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(TimerContract, ACancelledTimerReportsSoOnce) {
  const auto timer = harness_->client().make_timer();
  Outcome waited;
  timer->cancel();
  timer->async_wait(1h, waited.waiting());
  timer->cancel();
  timer->cancel();
  EXPECT_EQ(waited.calls, 0) << "called inline";
  ASSERT_TRUE(run_until([&] { return waited.calls == 1; }));
  EXPECT_EQ(waited.error, std::errc::operation_canceled);
  harness_->settle();
  EXPECT_EQ(waited.calls, 1);
}

TEST_P(TimerContract, ACancelledTimerIsCancelledEvenIfItsTimeHadCome) {
  Device& device = harness_->client();
  const auto first = device.make_timer();
  const auto second = device.make_timer();
  Outcome one;
  Outcome two;
  // Both are due at once; whichever handler runs first cancels the other.
  const auto start = device.now();
  first->async_wait(1ms, [&](std::error_code error) {
    one.waiting()(error);
    second->cancel();
  });
  second->async_wait(1ms, [&](std::error_code error) {
    two.waiting()(error);
    first->cancel();
  });
  while (!simulated() && device.now() - start < 1ms) {
  }
  ASSERT_TRUE(run_until([&] { return one.calls + two.calls == 2; }));
  EXPECT_NE(static_cast<bool>(one.error), static_cast<bool>(two.error));
}

TEST_P(TimerContract, ANewWaitReplacesTheOneThatIsPending) {
  const auto timer = harness_->client().make_timer();
  Outcome first;
  Outcome second;
  timer->async_wait(1h, first.waiting());
  timer->async_wait(1ms, second.waiting());
  ASSERT_TRUE(run_until([&] { return first.calls + second.calls == 2; }));
  EXPECT_EQ(first.error, std::errc::operation_canceled);
  EXPECT_FALSE(second.error);
}

TEST_P(TimerContract, AHandlerMayStartTheNextWait) {
  const auto timer = harness_->client().make_timer();
  int calls = 0;
  const std::function<void()> wait = [&] {
    timer->async_wait(1ms, [&](std::error_code error) {
      EXPECT_FALSE(error);
      if (++calls < 3) wait();
    });
  };
  wait();
  ASSERT_TRUE(run_until([&] { return calls == 3; }));
}

TEST_P(TimerContract, ADestroyedTimerIsSilent) {
  auto timer = harness_->client().make_timer();
  Outcome waited;
  timer->async_wait(0ms, waited.waiting());
  timer.reset();
  timer = harness_->client().make_timer();
  timer->async_wait(1h, waited.waiting());
  timer->cancel();
  timer.reset();
  harness_->settle();
  EXPECT_EQ(waited.calls, 0);
}

TEST_P(TimerContract, AHandlerMayDestroyItsTimer) {
  auto timer = harness_->client().make_timer();
  timer->async_wait(0ms, [&](std::error_code) { timer.reset(); });
  ASSERT_TRUE(run_until([&] { return timer == nullptr; }));
}

TEST_P(TimerContract, PostedTasksRunLaterAndInOrder) {
  std::vector<int> order;
  harness_->client().post([&] { order.push_back(1); });
  harness_->client().post([&] { order.push_back(2); });
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(run_until([&] { return order.size() == 2; }));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
