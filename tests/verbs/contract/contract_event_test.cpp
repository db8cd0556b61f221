// What every provider promises of the events of completion queues.
#include <poll.h>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class EventContract : public ConnectedContract {
 protected:
  [[nodiscard]] bool is_readable() {
    pollfd one{server.recv_cq->event_descriptor(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  }
  // Sends a message and lets it arrive, without looking at the receiver's queue.
  void deliver(SendFlags flags = SendFlags::kNone) {
    post(right, RecvWr{1, {}});
    SendWr request = send_of(2, {});
    request.flags = SendFlags::kSignaled | flags;
    post(left, request);
  }
  // Whether the receiver's queue has an event, or gets one; takes it. Nothing is polled.
  [[nodiscard]] bool takes_event() {
    return world->until([&] { return server.recv_cq->take_event(); });
  }
  [[nodiscard]] bool until_received(std::size_t count) {
    return until([&] { return server.received.size() >= count; });
  }
};
IWARP_IN_EVERY_WORLD(EventContract);

TEST_P(EventContract, AQueueThatIsNotArmedRaisesNone) {
  EXPECT_FALSE(is_readable());
  deliver();
  ASSERT_TRUE(until_received(1));
  settle();
  EXPECT_FALSE(server.recv_cq->take_event());
  EXPECT_FALSE(is_readable());
}

TEST_P(EventContract, AnArmedQueueRaisesOneEvent) {
  server.recv_cq->arm();
  EXPECT_FALSE(is_readable());
  deliver();
  ASSERT_TRUE(world->until([&] { return is_readable(); }));
  EXPECT_TRUE(server.recv_cq->take_event());
  EXPECT_FALSE(server.recv_cq->take_event());
  EXPECT_FALSE(is_readable());
  ASSERT_TRUE(until_received(1));
}

TEST_P(EventContract, ASecondCompletionRaisesNoneUntilItIsArmedAgain) {
  server.recv_cq->arm();
  deliver();
  ASSERT_TRUE(takes_event());
  ASSERT_TRUE(until_received(1));
  deliver();
  ASSERT_TRUE(until_received(2));
  settle();
  EXPECT_FALSE(server.recv_cq->take_event());
  server.recv_cq->arm();
  deliver();
  EXPECT_TRUE(takes_event());
}

TEST_P(EventContract, OnlyTheArmedQueueRaisesOne) {
  client.recv_cq->arm();
  deliver();
  ASSERT_TRUE(until_received(1));
  settle();
  EXPECT_FALSE(client.recv_cq->take_event());
  EXPECT_FALSE(server.recv_cq->take_event());
}

TEST_P(EventContract, ACompletionOfASendRaisesOneToo) {
  client.send_cq->arm();
  deliver();
  EXPECT_TRUE(world->until([&] { return client.send_cq->take_event(); }));
}

TEST_P(EventContract, AQueueThatWaitsForSolicitedOnesSleepsThroughOthers) {
  IWARP_NEEDS(Capability::kSolicitedEvents);
  server.recv_cq->arm(Arm::kSolicited);
  deliver();
  ASSERT_TRUE(until_received(1));
  settle();
  EXPECT_FALSE(server.recv_cq->take_event());
  deliver(SendFlags::kSolicited);
  EXPECT_TRUE(takes_event());
}

TEST_P(EventContract, AFailedCompletionWakesWhatWaitsForSolicitedOnes) {
  IWARP_NEEDS(Capability::kSolicitedEvents);
  server.recv_cq->arm(Arm::kSolicited);
  post(right, RecvWr{1, {}});
  left.qp->abort();
  EXPECT_TRUE(takes_event());
}

TEST_P(EventContract, AnUnsignaledRequestRaisesNone) {
  client.send_cq->arm();
  post(right, RecvWr{1, {}});
  SendWr silent = send_of(2, {});
  silent.flags = SendFlags::kNone;
  post(left, silent);
  ASSERT_TRUE(until_received(1));
  settle();
  EXPECT_FALSE(client.send_cq->take_event());
}

TEST_P(EventContract, WhatCameBeforeItWasArmedIsFoundByPolling) {
  deliver();
  settle();
  server.recv_cq->arm();
  EXPECT_TRUE(until_received(1));
}

}  // namespace
}  // namespace iwarp::verbs::contract
