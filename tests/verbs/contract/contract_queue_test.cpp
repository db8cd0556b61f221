// What every provider promises of completion queues and of queue pairs before they are connected.
#include <set>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class QueueContract : public Contract {
 protected:
  Outcome<QueuePair> make(const QpCapacity& capacity) {
    QpOptions options;
    options.capacity = capacity;
    return client.pd->create_qp(*client.send_cq, *client.recv_cq, std::move(options));
  }
  const DeviceAttributes& attributes = world->client().attributes();
};
IWARP_IN_EVERY_WORLD(QueueContract);

// A field of QpCapacity, what it is called, and its limit.
struct CapacityField {
  std::string name;
  std::uint32_t QpCapacity::*member;
  std::uint32_t limit;
};

std::vector<CapacityField> fields_of(const DeviceAttributes& attributes) {
  return {{"max_send_wr", &QpCapacity::max_send_wr, attributes.max_qp_wr},
          {"max_recv_wr", &QpCapacity::max_recv_wr, attributes.max_qp_wr},
          {"max_send_sge", &QpCapacity::max_send_sge, attributes.max_sge},
          {"max_recv_sge", &QpCapacity::max_recv_sge, attributes.max_sge},
          {"max_inline", &QpCapacity::max_inline, attributes.max_inline}};
}

TEST_P(QueueContract, ACompletionQueueHoldsAtLeastWhatWasAskedFor) {
  for (const std::uint32_t depth : {1U, 2U, 100U, 1000U}) {
    const auto cq = world->client().create_cq(depth);
    ASSERT_TRUE(cq) << cq.error().message;
    EXPECT_GE(cq->capacity(), depth);
  }
}

TEST_P(QueueContract, ADepthBeyondTheLimitsIsRefused) {
  EXPECT_EQ(refusal(world->client().create_cq(0)), std::errc::invalid_argument);
  if (attributes.max_cqe == UINT32_MAX) return;
  EXPECT_EQ(refusal(world->client().create_cq(attributes.max_cqe + 1)),
            std::errc::invalid_argument);
}

TEST_P(QueueContract, AnEmptyQueueHasNoCompletionAndNoEvent) {
  Completion none;
  EXPECT_EQ(client.send_cq->poll({&none, 1}), 0U);
  EXPECT_EQ(client.send_cq->poll({}), 0U);
  EXPECT_FALSE(client.send_cq->take_event());
}

TEST_P(QueueContract, ACompletionQueueIsResizedOrStaysAsItWas) {
  auto cq = world->client().create_cq(10).value();
  const std::uint32_t before = cq.capacity();
  const auto done = cq.resize(1000);
  if (can(Capability::kResizing)) {
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GE(cq.capacity(), 1000U);
    EXPECT_EQ(refusal(cq.resize(0)), std::errc::invalid_argument);
  } else {
    EXPECT_EQ(refusal(done), std::errc::not_supported);
    EXPECT_EQ(cq.capacity(), before);
  }
}

TEST_P(QueueContract, EachLimitOfAQueuePairIsKeptAndNamed) {
  for (const CapacityField& field : fields_of(attributes)) {
    if (field.limit == UINT32_MAX) continue;
    QpCapacity capacity;
    capacity.*field.member = field.limit + 1;
    const auto none = make(capacity);
    ASSERT_FALSE(none) << field.name;
    EXPECT_EQ(none.error().code, std::errc::invalid_argument) << field.name;
    EXPECT_NE(none.error().message.find(field.name), std::string::npos) << none.error().message;
  }
}

TEST_P(QueueContract, AQueuePairMayHaveAllThatTheDeviceOffers) {
  for (const CapacityField& field : fields_of(attributes)) {
    QpCapacity capacity;
    capacity.*field.member = field.limit;
    const auto qp = make(capacity);
    ASSERT_TRUE(qp) << field.name << ": " << qp.error().message;
    EXPECT_GE(qp->capacity().*field.member, field.limit) << field.name;
  }
}

TEST_P(QueueContract, AQueuePairHasAtLeastTheCapacityThatWasAskedFor) {
  const QpCapacity asked{17, 23, 2, 1, 33};
  QpCapacity fitting = asked;
  fitting.max_inline = std::min(fitting.max_inline, attributes.max_inline);
  const auto qp = make(fitting);
  ASSERT_TRUE(qp) << qp.error().message;
  for (const CapacityField& field : fields_of(attributes)) {
    EXPECT_GE(qp->capacity().*field.member, fitting.*field.member) << field.name;
  }
}

TEST_P(QueueContract, AQueuePairIsIdleAtFirst) {
  const End end(client);
  EXPECT_EQ(end.qp->state(), QpState::kIdle);
  settle();
  EXPECT_EQ(end.told->count(), 0U);
}

TEST_P(QueueContract, QueuePairsHaveDifferentNumbers) {
  std::deque<End> ends;
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 10; ++i) numbers.insert(ends.emplace_back(client).qp->number());
  EXPECT_EQ(numbers.size(), ends.size());
}

TEST_P(QueueContract, QueuesHaveDifferentNumbers) {
  EXPECT_NE(client.send_cq->number(), client.recv_cq->number());
}

TEST_P(QueueContract, AQueuePairKeepsWhatItWasMadeOf) {
  End end(client);
  client.pd.reset();
  client.send_cq.reset();
  client.recv_cq.reset();
  EXPECT_EQ(end.qp->state(), QpState::kIdle);
  post(end, RecvWr{1, {}});
  end.qp.reset();
}

TEST_P(QueueContract, ObjectsOfAnotherDeviceAreRefused) {
  if (&world->client() == &world->server()) GTEST_SKIP() << "there is one device only";
  EXPECT_EQ(refusal(client.pd->create_qp(*server.send_cq, *client.recv_cq)),
            std::errc::invalid_argument);
  EXPECT_EQ(refusal(client.pd->create_qp(*client.send_cq, *server.recv_cq)),
            std::errc::invalid_argument);
}

TEST_P(QueueContract, ADomainOfAnotherDeviceIsRefused) {
  if (&world->client() == &world->server()) GTEST_SKIP() << "there is one device only";
  if (!can(Capability::kReregistration)) GTEST_SKIP() << "regions are not registered anew";
  std::array<std::byte, 64> octets{};
  auto region = client.pd->register_memory(octets, Access::kLocalWrite);
  ASSERT_TRUE(region);
  const Stag before = region->lkey();
  const auto moved = region->reregister(*server.pd, octets, Access::kLocalWrite);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, std::errc::invalid_argument);
  EXPECT_NE(moved.error().message.find("another device"), std::string::npos);
  EXPECT_EQ(region->lkey(), before);
}

TEST_P(QueueContract, AQueuePairOfAnotherDeviceAcceptsNothing) {
  if (&world->client() == &world->server()) GTEST_SKIP() << "there is one device only";
  auto listener = world->server().listen(world->listen_at());
  ASSERT_TRUE(listener);
  End asks(client), foreign(client), own(server);
  ASSERT_TRUE(asks.qp->start_connect(listener->endpoint()));
  std::optional<ConnectionRequest> request;
  ASSERT_TRUE(until([&] {
    request = listener->next(std::chrono::milliseconds(0));
    return request.has_value();
  }));
  const auto refused = request->start_accept(*foreign.qp);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::invalid_argument);
  EXPECT_EQ(foreign.qp->state(), QpState::kIdle);
  EXPECT_TRUE(request->start_accept(*own.qp)) << "it can still be answered";
}

}  // namespace
}  // namespace iwarp::verbs::contract
