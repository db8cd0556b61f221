#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>

#include "support/descriptors.hpp"
#include "verbs/loopback_support.hpp"
#include "verbs/raw_peer.hpp"

// Where the system has no more memory, descriptors or threads: what fails says so, and nothing else
// ends.
namespace {

std::atomic<bool> has_threads{true};

}  // namespace

// In front of the system's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Call = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "pthread_create"));
  return has_threads ? next(thread, attributes, start, argument) : EAGAIN;
}

namespace iwarp::verbs {
namespace {

using iwarp::test::DescriptorLimit;

// ---- Memory.

namespace sim {

using namespace simtest;

TEST(WithoutMemory, ForWhatComesTheConnectionEnds) {
  RawPair pair;
  post(pair.end, RecvWr{1, {}});
  pair.end.host->inside_receive = [] { throw std::bad_alloc(); };
  const auto octets = pair.peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
  pair.peer.send_octets(ConstBytes(octets).first(10));
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed() && pair.peer.lost; }, 1s));
  expect_broken(pair.end, "not enough memory");
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
  EXPECT_EQ(pair.end.host->tails, 0);
}

TEST(WithoutMemory, ForWhatIsSentTheConnectionEnds) {
  StuckPair pair;
  pair.end.host->inside_transmit = [] { throw std::bad_alloc(); };
  pair.run_for(1s);
  ASSERT_TRUE(pair.end.closed());
  expect_broken(pair.end, "not enough memory");
  EXPECT_EQ(statuses(pair.end.sent), std::vector{Status::kFlushed});
  pair.source.mr.reset();  // nobody holds it
}

class WithoutMemoryForAStart : public testing::Test {
 protected:
  WithoutMemoryForAStart() { post(end_, RecvWr{1, {}}); }
  void start() {
    auto streams = network_.net.make_stream_pair();
    peers_ = std::move(streams.acceptor);
    mpa::Agreed agreed;
    agreed.model = mpa::ConnectionModel::kClientServer;
    agreed.depths = {16, 16};
    end_.enter(std::move(streams.connector), soft::Role::kInitiator, agreed, mpa::Rtr::kNone);
    network_.run_until([this] { end_.turn(); }, [this] { return !end_.received.empty(); }, 2s);
  }

  TickingNetwork network_{1, {}};
  SimEnd end_{network_.net, {}, 1};

 private:
  std::unique_ptr<tcp_offload::Stream> peers_;
};

TEST_F(WithoutMemoryForAStart, TheStartHasFailed) {
  end_.host->inside_start = [] { throw std::bad_alloc(); };
  start();
  ASSERT_EQ(end_.events.size(), 1U);
  EXPECT_EQ(end_.events[0].kind, ConnectionEvent::Kind::kFailed);
  EXPECT_EQ(end_.events[0].error.code, std::errc::not_enough_memory);
  EXPECT_EQ(statuses(end_.received), std::vector{Status::kFlushed});
}

TEST_F(WithoutMemoryForAStart, TheConnectionEndsIfItHasBeenToldOf) {
  end_.host->inside_add = [] { throw std::bad_alloc(); };
  start();
  ASSERT_EQ(end_.events.size(), 2U);
  EXPECT_EQ(end_.events[0].kind, ConnectionEvent::Kind::kEstablished);
  expect_broken(end_, "not enough memory");
  EXPECT_EQ(statuses(end_.received), std::vector{Status::kFlushed});
}

TEST(WithoutMemory, ForItsNewsTheEndIsToldLater) {
  RawPair pair;
  post(pair.end, RecvWr{1, {}});
  pair.end.host->posts_without_memory = 3;
  pair.peer.reset();
  ASSERT_TRUE(pair.run_until([&] { return pair.end.closed(); }, 2s));
  pair.run_for(1s);
  EXPECT_EQ(pair.end.host->posts_without_memory, 0U);
  expect_broken(pair.end, "");
  EXPECT_EQ(statuses(pair.end.received), std::vector{Status::kFlushed});
}

/// One of three receives is being filled: half an FPDU has come.
class HalfReceivingPair : public RawPair {
 public:
  HalfReceivingPair() {
    for (const std::uint64_t id : {1U, 2U, 3U}) post(end, RecvWr{id, {}});
    const auto octets = peer.frame(segment(untagged(rdmap::Opcode::kSend, 1)));
    peer.send_octets(ConstBytes(octets).first(10));
    EXPECT_TRUE(run_until([&] { return end.host->tails != 0; }, 1s));
  }
  /// It has been told once, and nothing is left.
  void expect_end() const {
    EXPECT_EQ(end.count(ConnectionEvent::Kind::kDisconnected), 1U);
    EXPECT_EQ(statuses(end.received), std::vector(3, Status::kFlushed));
    EXPECT_EQ(end.host->tails, 0);
  }
};

// The end is told by a task that runs before anything looks at the queue pair again.
TEST(WithoutMemory, ForTheFlushReceivesAreFlushedAllTheSame) {
  HalfReceivingPair pair;
  SimHost& host = *pair.end.host;
  host.post([&] {
    host.inside_receive = [] { throw std::bad_alloc(); };
    pair.end.qp->abort();
  });
  pair.turn();
  pair.expect_end();
}

TEST(WithoutMemory, ForTheFlushTheEndIsToldLater) {
  HalfReceivingPair pair;
  SimHost& host = *pair.end.host;
  const auto fails = [] { throw std::bad_alloc(); };
  host.post([&] {
    host.inside_receive = [&] {
      host.inside_receive = fails;  // once more
      fails();
    };
    pair.end.qp->abort();
  });
  pair.turn();
  EXPECT_EQ(pair.end.count(ConnectionEvent::Kind::kDisconnected), 0U);
  pair.turn();
  pair.expect_end();
}

// A thread that fails to flush has wanted nothing any more while it was at it.
TEST(WithoutMemory, ForTheFlushTheEndIsNotToldMeanwhile) {
  HalfReceivingPair pair;
  SimHost& host = *pair.end.host;
  host.inside_receive = [&] {
    pair.end.collect();  // a poller, which has the end told
    host.turn();
    EXPECT_EQ(pair.end.count(ConnectionEvent::Kind::kDisconnected), 0U);
    throw std::bad_alloc();
  };
  pair.end.qp->abort();
  pair.run_for(1s);
  pair.expect_end();
}

}  // namespace sim

// ---- Threads, descriptors, handlers.

namespace loopback {

using namespace verbs::test;

class WithoutDescriptors : public testing::Test {
 protected:
  void SetUp() override {
    if (DescriptorLimit::kUnbearable) GTEST_SKIP() << DescriptorLimit::kWhy;
  }
};

TEST_F(WithoutDescriptors, NoDeviceIsOpened) {
  const DescriptorLimit none(0);
  for (const std::string name : {"soft", "soft:lo"}) {
    const auto device = Device::open(name);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, std::errc::too_many_files_open);
    EXPECT_NE(device.error().message.find("'" + name + "' cannot be opened"), std::string::npos)
        << device.error().message;
  }
}

TEST(WithoutThreads, NoDeviceIsOpened) {
  has_threads = false;
  const auto device = Device::open();
  has_threads = true;
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, std::errc::resource_unavailable_try_again);
}

// More queue pairs than a poll looks at one by one.
constexpr std::size_t kMany = 20;

void send_to_each(LoopbackHub& hub) {
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(hub.server_qps[i].post_receive(RecvWr{.wr_id = i, .sges = {}}));
    ASSERT_TRUE(hub.client_qps[i].post_send(send_of(i, {})));
  }
}

TEST_F(WithoutDescriptors, PollsGoOn) {
  LoopbackHub hub(kMany);
  const DescriptorLimit none(0);
  send_to_each(hub);
  EXPECT_EQ(poll_for(hub.server.cq, kMany).size(), kMany);
  EXPECT_EQ(poll_for(hub.client.cq, kMany).size(), kMany);
}

TEST_F(WithoutDescriptors, WaitsGoOn) {
  LoopbackHub hub(kMany);
  const DescriptorLimit none(0);
  send_to_each(hub);
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_TRUE(hub.server.cq.wait(kPatience));
  EXPECT_FALSE(hub.server.cq.wait(5ms));
}

TEST_F(WithoutDescriptors, EventsAreCountedUntilThereIsOne) {
  LoopbackHub hub(kMany);
  {
    const DescriptorLimit none(0);
    hub.server.cq.arm();
    send_to_each(hub);
    EXPECT_TRUE(eventually([&] { return hub.server.cq.take_event(); }));
    EXPECT_FALSE(hub.server.cq.take_event());
    hub.server.cq.arm();
    send_to_each(hub);
    EXPECT_THROW(static_cast<void>(hub.server.cq.event_descriptor()), std::system_error);
  }
  EXPECT_GE(hub.server.cq.event_descriptor(), 0);
  EXPECT_TRUE(eventually([&] { return hub.server.cq.take_event(); }));
  EXPECT_EQ(poll_for(hub.server.cq, 2 * kMany).size(), 2 * kMany);
}

// What it throws is the end of this one request.
TEST(ThrowingHandler, LeavesTheListenerAtWork) {
  Side client, server;
  std::atomic<int> asked{0};
  auto listener = std::make_unique<Listener>(
      must(server.device.listen(kAnyPort, {}, [&](const ConnectionRequest&) {
        ++asked;
        throw std::runtime_error("the program's own");
      })));
  for (int i = 1; i <= 3; ++i) {
    QueuePair qp = client.make_qp();
    const auto connected = qp.connect(listener->endpoint());
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code, std::errc::connection_refused);
    EXPECT_EQ(asked, i);
  }
  listener.reset();  // which waits for a handler that runs
}

TEST(ThrowingHandler, OfAQueuePairEndsItsConnection) {
  AskedServer asked;
  QpOptions options;
  options.on_event = [](const ConnectionEvent& event) {
    if (event.kind == ConnectionEvent::Kind::kEstablished) throw std::runtime_error("its own");
  };
  QueuePair throwing = asked.server.make_qp(options);
  auto request = asked.next();
  ASSERT_TRUE(request);
  ASSERT_TRUE(request->start_accept(throwing));
  ASSERT_TRUE(throwing.wait_disconnected(kPatience));
  EXPECT_NE(throwing.diagnosis().sentence.find("the stack cannot go on: its own"),
            std::string::npos)
      << throwing.diagnosis().sentence;
  EXPECT_TRUE(asked.client_qp.wait_disconnected(kPatience));
}

}  // namespace loopback
}  // namespace
}  // namespace iwarp::verbs
