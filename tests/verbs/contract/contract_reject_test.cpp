// What every provider promises of rejections and of private data.
#include <algorithm>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class RejectContract : public Contract {
 protected:
  // The rejection that an end is told, and nothing else.
  ConnectionEvent rejection_of(const End& end) {
    EXPECT_TRUE(until([&] { return end.told->count() != 0; }));
    settle();
    EXPECT_EQ(end.told->count(), 1U);
    EXPECT_EQ(end.told->count(Kind::kRejected), 1U);
    return end.told->first(Kind::kRejected);
  }
};
IWARP_IN_EVERY_WORLD(RejectContract);

TEST_P(RejectContract, ARejectionBringsItsPrivateData) {
  End left(client);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request);
  const Bytes why = pattern(40);
  const auto rejected = request->reject(why);
  ASSERT_TRUE(rejected) << rejected.error().message;
  const ConnectionEvent event = rejection_of(left);
  EXPECT_EQ(event.info.private_data, why);
  EXPECT_FALSE(event.error.message.empty());
  EXPECT_EQ(event.socket, nullptr) << "not asked for";
  EXPECT_EQ(left.qp->state(), QpState::kError);
}

TEST_P(RejectContract, ARejectionMayBringNothing) {
  End left(client);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->reject());
  EXPECT_TRUE(rejection_of(left).info.private_data.empty());
}

TEST_P(RejectContract, ARequestThatIsDestroyedIsRejected) {
  End left(client);
  Listening listening = listen();
  ask(left, listening).reset();
  rejection_of(left);
}

TEST_P(RejectContract, ARejectionIsFinal) {
  End left(client);
  End right(server);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->reject());
  EXPECT_EQ(refusal(request->reject()), std::errc::connection_already_in_progress);
  EXPECT_EQ(refusal(request->start_accept(*right.qp)), std::errc::connection_already_in_progress);
  rejection_of(left);
  EXPECT_EQ(right.qp->state(), QpState::kIdle);
  EXPECT_EQ(right.told->count(), 0U);
}

TEST_P(RejectContract, ARejectionFlushesTheReceives) {
  End left(client);
  post(left, RecvWr{4, {}});
  Listening listening = listen();
  ask(left, listening).reset();
  rejection_of(left);
  ASSERT_TRUE(until([&] { return !client.received.empty(); }));
  EXPECT_EQ(statuses(client.received), std::vector<Status>{Status::kFlushed});
}

TEST_P(RejectContract, AnotherMayConnectBehindARejection) {
  End first(client);
  End left(client);
  End right(server);
  Listening listening = listen();
  ask(first, listening).reset();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->start_accept(*right.qp));
  ASSERT_TRUE(until([&] { return left.told->has(Kind::kEstablished); }));
  expect_service(left, right);
}

TEST_P(RejectContract, ARejectedConnectionIsKeptOrThatIsRefused) {
  End left(client);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request);
  struct Kept {
    std::mutex mutex;
    std::optional<Outcome<StreamingSocket>> outcome;
    bool has() {
      const std::lock_guard lock(mutex);
      return outcome.has_value();
    }
  };
  const auto kept = std::make_shared<Kept>();
  const auto started =
      request->start_reject_and_keep(pattern(3), [kept](Outcome<StreamingSocket> outcome) {
        const std::lock_guard lock(kept->mutex);
        kept->outcome.emplace(std::move(outcome));
      });
  if (!can(Capability::kKeepsAfterReject)) {
    if (!started) {
      EXPECT_EQ(refusal(started), std::errc::not_supported);
      return;
    }
    ASSERT_TRUE(until([&] { return kept->has(); }));
    ASSERT_FALSE(*kept->outcome);
    EXPECT_EQ(kept->outcome->error().code, std::errc::not_supported);
    return;
  }
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE(until([&] { return kept->has(); }));
  ASSERT_TRUE(*kept->outcome) << kept->outcome->error().message;
  EXPECT_TRUE(static_cast<bool>(kept->outcome->value()));
  EXPECT_EQ(rejection_of(left).info.private_data, pattern(3));
}

class PrivateDataContract : public Contract {
 protected:
  // Connects with so much private data each way, and compares what came.
  void expect_exchanged(std::size_t there, std::size_t back) {
    End left(client);
    End right(server);
    ConnectOptions asked;
    ConnectOptions answered;
    asked.private_data = pattern(there, 1);
    answered.private_data = pattern(back, 2);
    Listening listening = listen();
    auto request = ask(left, listening, asked);
    ASSERT_TRUE(request);
    const ConstBytes got = request->private_data();
    EXPECT_EQ(Bytes(got.begin(), got.end()), asked.private_data);
    const auto accepted = request->start_accept(*right.qp, answered);
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(until([&] { return left.told->has(Kind::kEstablished); }));
    EXPECT_EQ(left.told->first(Kind::kEstablished).info.private_data, answered.private_data);
    expect_service(left, right);
    ASSERT_TRUE(until([&] { return right.told->has(Kind::kEstablished); }));
    EXPECT_EQ(right.told->first(Kind::kEstablished).info.private_data, asked.private_data);
  }
  const std::size_t asks = world->client().attributes().max_private_data;
  const std::size_t answers = world->server().attributes().max_private_data;
  const std::size_t most = std::min(asks, answers);
};
IWARP_IN_EVERY_WORLD(PrivateDataContract);

TEST_P(PrivateDataContract, GoesBothWays) { expect_exchanged(33, 44); }

TEST_P(PrivateDataContract, MayBeEmpty) { expect_exchanged(0, 0); }

TEST_P(PrivateDataContract, MayBeASingleOctet) { expect_exchanged(1, 1); }

TEST_P(PrivateDataContract, MayHaveAllThatTheDeviceOffers) { expect_exchanged(most, most); }

TEST_P(PrivateDataContract, ARejectionMayHaveAllThatTheDeviceOffers) {
  End left(client);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request && request->reject(pattern(most)));
  ASSERT_TRUE(until([&] { return left.told->has(Kind::kRejected); }));
  EXPECT_EQ(left.told->first(Kind::kRejected).info.private_data, pattern(most));
}

TEST_P(PrivateDataContract, TooMuchIsRefusedWhereItIsAsked) {
  End left(client);
  const Listening listening = listen();
  ConnectOptions asked;
  asked.private_data = pattern(asks + 1);
  EXPECT_EQ(refusal(left.qp->start_connect(listening.endpoint(), asked)),
            std::errc::invalid_argument);
  settle();
  EXPECT_FALSE(listening.has_request());
  EXPECT_EQ(left.told->count(), 0U);
  EXPECT_EQ(left.qp->state(), QpState::kIdle);
}

TEST_P(PrivateDataContract, TooMuchIsRefusedWhereItIsAnswered) {
  End left(client);
  End right(server);
  Listening listening = listen();
  auto request = ask(left, listening);
  ASSERT_TRUE(request);
  ConnectOptions answered;
  answered.private_data = pattern(answers + 1);
  EXPECT_EQ(refusal(request->start_accept(*right.qp, answered)), std::errc::invalid_argument);
  EXPECT_EQ(refusal(request->reject(answered.private_data)), std::errc::invalid_argument);
  EXPECT_EQ(right.qp->state(), QpState::kIdle);
  ASSERT_TRUE(request->start_accept(*right.qp)) << "it is still to be answered";
  ASSERT_TRUE(until([&] { return left.told->has(Kind::kEstablished); }));
  expect_service(left, right);
}

}  // namespace
}  // namespace iwarp::verbs::contract
