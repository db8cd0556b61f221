#include <gtest/gtest.h>

#include <future>

#include "soft/qp/blamed_read.hpp"
#include "verbs/loopback_support.hpp"

namespace iwarp::verbs::test {
namespace {

// A queue that has got more completions than it holds.
struct QueueOverrun : testing::Test {
  QueueOverrun() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(qp.post_receive(RecvWr{.wr_id = i, .sges = {}}));
    }
    qp.abort();  // which flushes them
  }

  Side side{1};
  QueuePair qp = side.make_qp();
};

TEST_F(QueueOverrun, StillGivesWhatItHadAndThenEndsEachWaitAtOnce) {
  auto waits = std::async(std::launch::async, [this] {
    const bool first = side.cq.wait(1h).has_value();
    return first && !side.cq.wait(1h);
  });
  ASSERT_EQ(waits.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(waits.get());
}

TEST_F(QueueOverrun, CannotBeUndoneByAnotherSize) {
  Completion completion;
  ASSERT_EQ(side.cq.poll({&completion, 1}), 1U);
  const auto resized = side.cq.resize(16);
  ASSERT_FALSE(resized);
  EXPECT_EQ(resized.error().code, std::errc::invalid_argument);
  EXPECT_NE(resized.error().message.find("overrun"), std::string::npos);
}

TEST(BlamedRead, MayBeAnyReadThereIs) {
  for (const std::uint32_t index : {0U, 1U, UINT32_MAX}) {
    soft::BlamedRead blamed;
    EXPECT_FALSE(blamed.status_of(index));
    blamed.blame(index, Status::kRemoteOperationError);
    EXPECT_EQ(blamed.status_of(index), Status::kRemoteOperationError);
    EXPECT_FALSE(blamed.status_of(index + 1U));
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
