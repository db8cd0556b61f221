#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include "support/endpoint.hpp"
#include "support/random.hpp"
#include "support/repeat.hpp"

// Two ends with two threads each: one that posts, sends and completes, one that receives. What the
// two halves of an end share are the queues between them, and nothing else keeps them in order.

namespace iwarp::test {
namespace {

using ddp::Rights;
using rdmap::Operation;

constexpr std::uint32_t kRounds = 100;
constexpr std::uint32_t kLength = 300;

// A wire that takes any number of segments.
class Wire {
 public:
  void put(std::vector<Ulpdu> segments) {
    const std::lock_guard lock(mutex_);
    for (Ulpdu& segment : segments) queue_.push_back(std::move(segment));
  }
  std::optional<Ulpdu> take() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    Ulpdu segment = std::move(queue_.front());
    queue_.pop_front();
    return segment;
  }

 private:
  std::mutex mutex_;
  std::deque<Ulpdu> queue_;
};

EndpointOptions options_of(std::uint64_t secret) {
  EndpointOptions options;
  options.secret = secret;
  options.ird = options.ord = 3;
  options.depth = 9;
  return options;
}

// In each round: a Write, a Send that announces it, and a Read that is checked when it completes.
class Party {
 public:
  explicit Party(std::uint64_t secret) : endpoint_(options_of(secret)) {
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      endpoint_.receives.post(i, {inbox_.sge(0, kLength)});
    }
    const Ulpdu data = pattern(source_.memory.size());
    std::copy(data.begin(), data.end(), source_.memory.data());
  }

  void send_to(Party& peer, Wire& wire) {
    Random random(endpoint_.transmitter.cursor().reads);
    for (std::uint32_t round = 0; round < kRounds;) {
      if (endpoint_.requests.depth() - used() >= 3) post(peer, round++);
      wire.put(endpoint_.transmit(random.between(128, 400), random.below(6)));
      check_reads();
    }
    while (used() != 0 || !peer.received_all_) {
      wire.put(endpoint_.transmit(400));
      check_reads();
      pause_a_little();
    }
  }

  // Goes on while the peer still waits for something: its Reads need somebody to take them in.
  void receive_from(const Party& peer, Wire& wire) {
    std::uint32_t sends = 0;
    std::uint32_t reads = 0;
    while (!received_all_ || !peer.received_all_) {
      const auto segment = wire.take();
      if (!segment) {
        pause_a_little();
        continue;
      }
      const auto outcome = endpoint_.receiver.on_ulpdu(*segment);
      ASSERT_TRUE(outcome) << rdmap::describe(outcome.error().terminate.cause);
      reads += std::holds_alternative<rdmap::RequestFinished>(*outcome) ? 1U : 0U;
      if (std::holds_alternative<rdmap::SendDelivered>(*outcome)) check_delivery(sends++);
      if (sends == kRounds && reads == kRounds) received_all_ = true;
    }
  }

  [[nodiscard]] unsigned wrong() const { return wrong_; }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  [[nodiscard]] std::uint32_t used() const {
    return endpoint_.requests.tail() - endpoint_.requests.head();
  }

  void post(Party& peer, std::uint32_t round) {
    const std::uint32_t at = round % 1000;
    endpoint_.post(request_of(Operation::kWrite, peer.exposed_.stag, peer.exposed_.to(0)),
                   {source_.sge(at, kLength)});
    endpoint_.post(request_of(Operation::kSend), {source_.sge(at, kLength)});
    endpoint_.post(request_of(Operation::kRead, peer.source_.stag, peer.source_.to(at)),
                   {sink_.sge((round % 8) * kLength, kLength)});
  }

  bool holds(const Region& region, std::uint32_t at, std::uint32_t round) const {
    const ConstBytes now = region.part(at, kLength);
    const ConstBytes wanted = source_.part(round % 1000, kLength);
    return std::equal(now.begin(), now.end(), wanted.begin());
  }

  // On the sending side: the receiving side has placed these, and said so by finish() alone.
  void check_reads() {
    endpoint_.retire();
    for (; checked_ != endpoint_.reads.finished(); ++checked_) {
      wrong_ += holds(sink_, (checked_ % 8) * kLength, checked_) ? 0U : 1U;
    }
  }
  void check_delivery(std::uint32_t round) {
    wrong_ += holds(inbox_, 0, round) && holds(exposed_, 0, round) ? 0U : 1U;
  }

  Endpoint endpoint_;
  Region& source_ = endpoint_.enable(1400, Rights::kRemoteRead);
  Region& exposed_ = endpoint_.enable(kLength, Rights::kRemoteWrite);
  Region& inbox_ = endpoint_.enable(kLength, Rights::kLocalWrite);
  Region& sink_ = endpoint_.enable(8 * kLength, Rights::kLocalWrite);
  std::uint32_t checked_ = 0;
  std::atomic<bool> received_all_{false};
  std::atomic<unsigned> wrong_{0};
};

void run_streams() {
  Party a(1);
  Party b(2);
  Wire a_to_b;
  Wire b_to_a;
  std::thread threads[] = {std::thread([&] { a.send_to(b, a_to_b); }),
                           std::thread([&] { b.send_to(a, b_to_a); }),
                           std::thread([&] { a.receive_from(b, b_to_a); }),
                           std::thread([&] { b.receive_from(a, a_to_b); })};
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(a.wrong() + b.wrong(), 0U);
  EXPECT_TRUE(a.endpoint().canaries_intact());
  EXPECT_TRUE(b.endpoint().canaries_intact());
}

TEST(StreamThreads, KeepBothHalvesOfBothEndsInOrder) {
  repeat_for(std::chrono::seconds(1), run_streams);
}

}  // namespace
}  // namespace iwarp::test
