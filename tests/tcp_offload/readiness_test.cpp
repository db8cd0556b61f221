#include "iwarp/tcp_offload/readiness.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "tcp_offload/kernel_fixture.hpp"

namespace iwarp::tcp_offload {
namespace {

using ReadinessOfSockets = test::KernelFixture;

constexpr auto kNow = std::chrono::milliseconds(0);
constexpr auto kPatience = std::chrono::seconds(10);

TEST(EventCountTest, IsTakenAsOftenAsItWasRaised) {
  EventCount events;
  EXPECT_FALSE(events.take());
  events.raise();
  events.raise(2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(events.take());
  EXPECT_FALSE(events.take());
}

TEST(EventCountTest, IsReadableUntilItIsCleared) {
  EventCount events;
  ReadinessSet set(Repeat::kLevel);
  ASSERT_FALSE(set.add(events.descriptor(), 7, {.read = true}));
  std::array<Ready, 4> ready;
  EXPECT_EQ(set.wait(ready, kNow), 0U);
  events.raise();
  events.raise();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(set.wait(ready, kNow), 1U);
    EXPECT_EQ(ready[0].token, 7U);
    EXPECT_TRUE(ready[0].read);
    EXPECT_FALSE(ready[0].write);
  }
  events.clear();
  EXPECT_EQ(set.wait(ready, kNow), 0U);
}

TEST(ReadinessSetTest, ReportsOnceUntilItIsArmedAgain) {
  EventCount events;
  events.raise();
  ReadinessSet set(Repeat::kOnce);
  ASSERT_FALSE(set.add(events.descriptor(), 1, {.read = true}));
  std::array<Ready, 4> ready;
  EXPECT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_EQ(set.wait(ready, kNow), 0U);
  set.modify(events.descriptor(), 2, {.read = true});
  ASSERT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_EQ(ready[0].token, 2U);
}

TEST(ReadinessSetTest, ReportsOneOfWhichMoreIsToldWhenMoreComes) {
  EventCount events;
  ReadinessSet set(Repeat::kOnce);
  ASSERT_FALSE(set.add(events.descriptor(), 1, {.read = true}));
  ASSERT_FALSE(set.modify(events.descriptor(), 1, {.read = true}, Repeat::kEdge));
  std::array<Ready, 4> ready;
  for (int i = 0; i < 3; ++i) {
    events.raise();
    EXPECT_EQ(set.wait(ready, kNow), 1U);
    EXPECT_EQ(set.wait(ready, kNow), 0U) << "nothing more has come";
  }
  ASSERT_FALSE(set.modify(events.descriptor(), 1, {.read = true}, Repeat::kEdge));
  EXPECT_EQ(set.wait(ready, kNow), 1U) << "what is there is told of when it is asked for";
}

TEST(ReadinessSetTest, TellsAnEndBehindWhatIsToBeRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  ReadinessSet set(Repeat::kOnce);
  ASSERT_FALSE(set.add(ends[0], 1, {.read = true}));
  ASSERT_FALSE(set.modify(ends[0], 1, {.read = true}, Repeat::kEdge));
  std::array<Ready, 4> ready;
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  ASSERT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_FALSE(ready[0].ended);
  ::shutdown(ends[1], SHUT_WR);
  ASSERT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_TRUE(ready[0].read);
  EXPECT_TRUE(ready[0].ended);
  for (const int end : ends) ::close(end);
}

// TCP's read stops in front of urgent data, with the octets behind it unread.
TEST_F(ReadinessOfSockets, TellsOfUrgentDataAmongWhatIsToBeRead) {
  const NativePair pair = connect_natively();
  ReadinessSet set(Repeat::kOnce);
  ASSERT_FALSE(set.add(pair.server, 1, {.read = true}));
  ASSERT_FALSE(set.modify(pair.server, 1, {.read = true}, Repeat::kEdge));
  ASSERT_EQ(::send(pair.client, "ab", 2, 0), 2);
  ASSERT_EQ(::send(pair.client, "c", 1, MSG_OOB), 1);
  ASSERT_EQ(::send(pair.client, "de", 2, 0), 2);
  std::array<Ready, 4> ready;
  ASSERT_EQ(set.wait(ready, kPatience), 1U);
  EXPECT_TRUE(ready[0].read);
  EXPECT_TRUE(ready[0].urgent);
  EXPECT_FALSE(ready[0].ended);
  std::array<char, 8> octets;
  for (int read = 0; read < 2; ++read) {
    ASSERT_EQ(::recv(pair.server, octets.data(), octets.size(), MSG_DONTWAIT), 2);
  }
  for (const int end : {pair.client, pair.server}) ::close(end);
}

// It is no input: a thread that reads for it would find nothing, and be told of it again.
TEST_F(ReadinessOfSockets, KeepsStillAboutUrgentDataWhereItWouldTellForEver) {
  for (const Repeat repeat : {Repeat::kLevel, Repeat::kOnce}) {
    const NativePair pair = connect_natively();
    ReadinessSet set(repeat);
    ASSERT_FALSE(set.add(pair.server, 1, {.read = true}));
    ASSERT_EQ(::send(pair.client, "x", 1, MSG_OOB), 1);
    std::array<Ready, 4> ready;
    pollfd urgent{pair.server, POLLPRI, 0};
    ASSERT_EQ(::poll(&urgent, 1, 10'000), 1);
    EXPECT_EQ(set.wait(ready, kNow), 0U);
    for (const int end : {pair.client, pair.server}) ::close(end);
  }
}

TEST(ReadinessSetTest, ReportsOneAgainThatIsNotToRest) {
  EventCount events;
  events.raise();
  ReadinessSet set(Repeat::kOnce);
  ASSERT_FALSE(set.add(events.descriptor(), 1, {.read = true}, Repeat::kLevel));
  std::array<Ready, 4> ready;
  EXPECT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_EQ(set.wait(ready, kNow), 1U);
}

TEST(ReadinessSetTest, TellsWhatItCouldNotArm) {
  const EventCount events;
  ReadinessSet set(Repeat::kOnce);
  EXPECT_EQ(set.modify(events.descriptor(), 1, {.read = true}),
            std::errc::no_such_file_or_directory);
}

TEST(ReadinessSetTest, WaitsOnlyForWhatIsOfInterest) {
  EventCount events;  // always writable
  events.raise();
  ReadinessSet set(Repeat::kLevel);
  std::array<Ready, 4> ready;
  ASSERT_FALSE(set.add(events.descriptor(), 1, {.write = true}));
  ASSERT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_TRUE(ready[0].write && !ready[0].read);
  set.modify(events.descriptor(), 1, {});
  EXPECT_EQ(set.wait(ready, kNow), 0U);
  set.modify(events.descriptor(), 1, {.read = true, .write = true});
  ASSERT_EQ(set.wait(ready, kNow), 1U);
  EXPECT_TRUE(ready[0].write && ready[0].read);
}

TEST(ReadinessSetTest, ForgetsWhatIsRemoved) {
  EventCount events;
  events.raise();
  ReadinessSet set(Repeat::kLevel);
  std::array<Ready, 4> ready;
  ASSERT_FALSE(set.add(events.descriptor(), 1, {.read = true}));
  set.remove(events.descriptor());
  EXPECT_EQ(set.wait(ready, kNow), 0U);
}

TEST(ReadinessSetTest, RefusesADescriptorThatIsNotOpen) {
  ReadinessSet set(Repeat::kLevel);
  EXPECT_EQ(set.add(-1, 1, {.read = true}), std::errc::bad_file_descriptor);
}

TEST(ReadinessSetTest, ReportsNoMoreThanThereIsRoomFor) {
  EventCount first;
  EventCount second;
  first.raise();
  second.raise();
  ReadinessSet set(Repeat::kLevel);
  ASSERT_FALSE(set.add(first.descriptor(), 1, {.read = true}));
  ASSERT_FALSE(set.add(second.descriptor(), 2, {.read = true}));
  std::array<Ready, 1> ready;
  EXPECT_EQ(set.wait(ready, kNow), 1U);
}

TEST(ReadinessSetTest, AnotherThreadsAdditionEndsAWait) {
  EventCount events;
  events.raise();
  ReadinessSet set(Repeat::kLevel);
  std::thread other([&] { EXPECT_FALSE(set.add(events.descriptor(), 5, {.read = true})); });
  std::array<Ready, 4> ready;
  EXPECT_EQ(set.wait(ready, kPatience), 1U);
  other.join();
}

}  // namespace
}  // namespace iwarp::tcp_offload
