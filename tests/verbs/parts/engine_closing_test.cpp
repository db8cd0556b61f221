#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "soft/engine/engine.hpp"

// Streams that are left to an engine which ends at once.
namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;
using tcp_offload::Delivery;
using tcp_offload::IoStatus;

/// A stream whose peer takes everything at once and has closed its own half.
class WillingStream : public tcp_offload::Stream {
 public:
  explicit WillingStream(std::atomic<std::size_t>& sent) : sent_(sent) {}

  tcp_offload::Received receive(MutableBytes) override { return {IoStatus::kEndOfStream, {}, {}}; }
  void consume(std::size_t) override {}
  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    std::size_t size = 0;
    for (const iovec& piece : pieces) size += piece.iov_len;
    sent_ += size;
    return {IoStatus::kOk, size, {}};
  }
  [[nodiscard]] std::uint64_t released() const override { return sent_; }
  [[nodiscard]] Delivery delivery() const override { return {}; }
  [[nodiscard]] std::size_t emss() const override { return 1460; }
  [[nodiscard]] std::size_t send_quantum() const override { return 0; }
  [[nodiscard]] int descriptor() const override { return ready_.descriptor(); }
  void shutdown_send() override {}
  void abort() override {}
  void watch_peer(const tcp_offload::PeerWatch& /*watch*/) override {}
  [[nodiscard]] tcp_offload::Endpoint local() const override { return {}; }
  [[nodiscard]] tcp_offload::Endpoint remote() const override { return {}; }

 private:
  std::atomic<std::size_t>& sent_;
  tcp_offload::EventCount ready_;
};

/// One at which the engine's thread stays for as long as the test wants.
class LongStream final : public WillingStream {
 public:
  LongStream(std::atomic<std::size_t>& sent, std::function<void()> meanwhile)
      : WillingStream(sent), meanwhile_(std::move(meanwhile)) {}
  [[nodiscard]] Delivery delivery() const override {
    meanwhile_();
    return {};
  }

 private:
  const std::function<void()> meanwhile_;
};

ClosingStream closing(std::unique_ptr<tcp_offload::Stream> stream, std::size_t unsent) {
  ClosingStream one;
  one.unsent.resize(unsent);
  one.stream = std::move(stream);
  one.linger = 20s;
  return one;
}

// The thread of the engine has just taken in what there was when the last stream comes, and sees
// next that it is to end.
TEST(EngineClosing, TheLastStreamBeforeTheEndIsSeenOff) {
  std::atomic<std::size_t> first{0}, last{0};
  std::atomic<bool> inside{false}, ends{false};
  {
    Engine engine;
    engine.see_off(closing(std::make_unique<LongStream>(first,
                                                        [&] {
                                                          inside = true;
                                                          while (!ends) std::this_thread::yield();
                                                          std::this_thread::sleep_for(50ms);
                                                        }),
                           1));
    while (!inside) std::this_thread::yield();
    engine.see_off(closing(std::make_unique<WillingStream>(last), 10));
    ends = true;
  }
  EXPECT_EQ(last, 10U);
}

/// One that has no memory for its first step.
class CostlyStream final : public WillingStream {
 public:
  explicit CostlyStream(std::atomic<std::size_t>& sent) : WillingStream(sent) {}
  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    if (!std::exchange(tried_, true)) throw std::bad_alloc();
    return WillingStream::send(pieces);
  }

 private:
  bool tried_ = false;
};

TEST(EngineClosing, AStepThatThrowsIsTakenAgain) {
  std::atomic<std::size_t> first{0}, second{0};
  {
    Engine engine;
    engine.see_off(closing(std::make_unique<CostlyStream>(first), 10));
    engine.see_off(closing(std::make_unique<WillingStream>(second), 10));
  }
  EXPECT_EQ(first, 10U);
  EXPECT_EQ(second, 10U);
}

// The process ends while another thread leaves a stream to the engine. ThreadSanitizer is the
// judge; the octets leave all the same.
TEST(EngineClosing, ProcessMayEndWhileAStreamIsLeftToTheEngine) {
  for (int i = 0; i < 100; ++i) {
    std::atomic<std::size_t> sent{0};
    std::atomic<bool> goes_on{false};
    {
      Engine engine;
      std::thread other([&] {
        while (!goes_on) std::this_thread::yield();
        engine.see_off(closing(std::make_unique<WillingStream>(sent), 10));
      });
      goes_on = true;
      engine.finish();
      other.join();
    }
    EXPECT_EQ(sent, 10U);
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft
