#include <unordered_map>

#include "support/random.hpp"
#include "verbs/loopback_support.hpp"

// A hundred producers and one consumer with a shared receive queue. Each producer may have as many
// messages under way as its share is: it sends the next one when the consumer, which gives buffers
// back out of order, has told it that it has posted one of its own anew.
namespace iwarp::verbs::test {
namespace {

class Producers : public testing::Test {
 protected:
  static constexpr std::size_t kProducers = 100;
  static constexpr std::uint32_t kCredits = 4;
  static constexpr std::size_t kBuffers = kProducers * kCredits;
  static constexpr std::size_t kKept = kBuffers / 2;                    // until there are more
  static constexpr std::size_t kMessages = 100 * kProducers * kEffort;  // of all together

  Producers() {
    QpOptions consumers;
    consumers.srq = &srq;
    hub.connect(kProducers, {}, consumers);
    for (std::size_t i = 0; i < kProducers; ++i) {
      producers.emplace(hub.client_qps[i].number(), &hub.client_qps[i]);
      consumed.emplace(hub.server_qps[i].number(), &hub.server_qps[i]);
    }
  }

  // Takes what has come; false if anything has failed.
  template <typename Take>
  static void poll(CompletionQueue& cq, Take take) {
    Completion some[16];
    const std::size_t count = cq.poll(some);
    for (const Completion& completion : std::span(some).first(count)) {
      ASSERT_EQ(completion.status, Status::kSuccess) << "queue pair " << completion.qp_number;
      if (completion.opcode == CompletionOpcode::kReceive) take(completion);
    }
  }

  // The producers' side: a credit has come, and the next message leaves.
  void produce() {
    poll(hub.client.cq, [this](const Completion& credit) {
      QueuePair& producer = *producers.at(credit.qp_number);
      ASSERT_TRUE(producer.post_receive(RecvWr{}));
      if (sent.fetch_add(1) >= kMessages) return;
      ASSERT_TRUE(producer.post_send(send_of(0, {})));
    });
  }
  // The consumer's: any buffer that it has may be the next that it has done with.
  void consume() {
    poll(hub.server.cq, [this](const Completion& message) {
      kept.push_back(message);
      ++received;
    });
    const std::size_t most = received >= kMessages ? 0 : kKept;
    while (kept.size() > most) {
      std::swap(kept[random.below(static_cast<std::uint32_t>(kept.size()))], kept.back());
      const Completion done = kept.back();
      kept.pop_back();
      ASSERT_TRUE(srq.post_receive(RecvWr{done.wr_id, {}}));
      ASSERT_TRUE(consumed.at(done.qp_number)->post_send(send_of(0, {})));
    }
  }

  LoopbackHub hub;
  SharedReceiveQueue srq =
      must(hub.server.pd.create_srq({.max_wr = kBuffers, .max_sge = 1, .share = kCredits}));
  std::unordered_map<std::uint32_t, QueuePair*> producers, consumed;  // by number
  std::atomic<std::size_t> sent{0};
  std::size_t received = 0;
  std::vector<Completion> kept;
  iwarp::test::Random random{1};
};

TEST_F(Producers, WithCreditsOfTheirShareAreNotEndedByBuffersThatComeBackOutOfOrder) {
  for (std::uint64_t i = 0; i < kBuffers; ++i) ASSERT_TRUE(srq.post_receive(RecvWr{i, {}}));
  for (QueuePair& producer : hub.client_qps) {
    for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(producer.post_receive(RecvWr{}));
    for (std::uint32_t i = 0; i < kCredits; ++i) ASSERT_TRUE(producer.post_send(send_of(0, {})));
  }
  sent.store(kBuffers);
  std::atomic<bool> stop{false};
  std::thread production([&] {
    while (!stop.load() && !HasFatalFailure()) produce();
  });
  EXPECT_TRUE(
      eventually([&] { return received >= kMessages || HasFatalFailure(); }, [&] { consume(); }));
  stop.store(true);
  production.join();
  EXPECT_EQ(received, kMessages);
  for (const QueuePair& qp : hub.server_qps) EXPECT_EQ(qp.state(), QpState::kRts);
}

}  // namespace
}  // namespace iwarp::verbs::test
