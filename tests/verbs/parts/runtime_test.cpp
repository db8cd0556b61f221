#include "soft/runtime.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace iwarp::verbs::soft {
namespace {

constexpr std::chrono::seconds kPatience{20};

// News of one connection come from the executor, as it begins, and from the engine, as it ends.
TEST(Runtime, TasksOfAllThreadsRunInTheOrderInWhichTheyWerePosted) {
  const auto runtime = Runtime::make();
  std::promise<std::string> done;
  std::string order;
  runtime->post([&] {
    runtime->post([&] { order += "executor "; });
    std::thread other([&] {
      runtime->post([&] {
        order += "other";
        done.set_value(order);
      });
    });
    other.join();
  });
  auto result = done.get_future();
  ASSERT_EQ(result.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(result.get(), "executor other");
}

// The largest number there is means for ever.
TEST(Runtime, AnEventIsWaitedForHoweverLongThatIs) {
  const auto runtime = Runtime::make();
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    runtime->events().report({AsyncEvent::Kind::kCqOverrun, 7, {}});
  });
  const auto event = runtime->events().wait(std::chrono::milliseconds::max());
  other.join();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->number, 7U);
}

}  // namespace
}  // namespace iwarp::verbs::soft
