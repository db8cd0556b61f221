#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <thread>

#include "support/descriptors.hpp"
#include "verbs/startup_support.hpp"

/// What only the kernel's sockets and real threads show.
namespace iwarp::verbs::soft::test {
namespace {

using iwarp::test::open_descriptors;
using std::chrono::milliseconds;

/// The kernel device with its executor on a thread of its own.
class ThreadWorld {
 public:
  ThreadWorld() : thread_([this] { context_.run(); }) {}
  ~ThreadWorld() {
    work_.reset();
    context_.stop();
    thread_.join();
  }

  /// Waits until the executor has done what it was given so far.
  void settle() {
    std::promise<void> done;
    device->post([&] { done.set_value(); });
    done.get_future().wait();
  }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      context_.get_executor()};

 public:
  std::shared_ptr<tcp_offload::Device> device =
      std::make_shared<tcp_offload::KernelDevice>(context_);

 private:
  std::thread thread_;
};

const Endpoint kLoopback(boost::asio::ip::make_address("127.0.0.1"), 0);

TEST(KernelStartup, TellsARefusedConnection) {
  KernelWorld world;
  const Endpoint nobody = std::move(world.device->listen(kLoopback, 1)).value()->local_endpoint();
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, nobody));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.error(), nullptr);
  EXPECT_EQ(connecting.error()->code, std::errc::connection_refused);
}

TEST(KernelStartup, LetsARejectionArrive) {
  KernelWorld world;
  Listening listening(world);
  listening.on_incoming = [](const std::unique_ptr<provider::IncomingConnection>& incoming) {
    ASSERT_TRUE(incoming->reject(pattern(200)));
  };
  RawPeer peer(world, listening.endpoint);
  peer.write(encoded(enhanced_frame(mpa::FrameKind::kRequest, data_of(1, 1))));
  ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
  EXPECT_TRUE(peer.closed_properly());
  const auto reply = mpa::StartupFrameView::parse(peer.received, mpa::FrameKind::kReply);
  ASSERT_TRUE(reply);
  EXPECT_THAT(reply.value().private_data(), testing::ElementsAreArray(pattern(200)));
}

TEST(KernelStartup, FallsBack) {
  KernelWorld world;
  RawServer server(world, [](RawPeer& peer, std::size_t number) {
    peer.on_octets = [&peer, number] {
      peer.on_octets = nullptr;
      if (number == 1) return peer.connection->close();
      mpa::StartupFrame frame;
      frame.kind = mpa::FrameKind::kReply;
      frame.revision = mpa::Revision::k1;
      peer.write(encoded(frame));
    };
  });
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, server.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  ASSERT_NE(connecting.mode(), nullptr);
  EXPECT_EQ(connecting.mode()->info.mpa_revision, 1);
}

// One start-up with one of many ends; nothing of it is left afterwards.
void run_one_of_many(World& world, int kind) {
  Listening listening(world);
  const auto qp = std::make_shared<FakeQp>();
  listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
    if (kind % 3 == 0) {
      EXPECT_TRUE(incoming->accept(qp, {}));
    }
    if (kind % 3 == 1) {
      EXPECT_TRUE(incoming->reject({}));
    }
  };
  RawPeer garbage(world, listening.endpoint);
  garbage.write(pattern(50));
  RawPeer half(world, listening.endpoint);
  half.write({std::byte{'M'}});
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listening.endpoint));
  if (kind % 2 == 0) {
    ASSERT_TRUE(world.run_until([&] { return connecting.done() && garbage.ended(); }));
  } else {
    ASSERT_TRUE(world.run_until([&] { return listening.calls > 0; }));
    connecting.startup.reset();
  }
}

TEST(KernelStartup, LeaksNoDescriptor) {
  KernelWorld world;
  run_one_of_many(world, 0);  // the device's own descriptors are made
  ASSERT_TRUE(world.run_until([&] { return world.context.poll() == 0; }));
  const std::size_t before = open_descriptors();
  for (int kind = 0; kind < 60; ++kind) run_one_of_many(world, kind);
  EXPECT_TRUE(world.run_until([&] { return open_descriptors() <= before; }));
}

// Whatever is under way when the executor ends is freed with it.
TEST(KernelStartup, EndsWithItsExecutor) {
  const std::size_t before = open_descriptors();
  for (int turns = 0; turns < 40; ++turns) {
    KernelWorld world;
    Listening listening(world);
    const auto qp = std::make_shared<FakeQp>();
    listening.on_incoming = [&](std::unique_ptr<provider::IncomingConnection> incoming) {
      if (turns % 4 == 0) {
        EXPECT_TRUE(incoming->accept(qp, {}));
      }
      if (turns % 4 == 1) {
        EXPECT_TRUE(incoming->reject({}));
      }
      if (turns % 4 == 2) listening.incoming.push_back(std::move(incoming));
    };
    Connecting connecting;
    ASSERT_TRUE(connecting.start(world, listening.endpoint));
    RawPeer half(world, listening.endpoint);
    for (int i = 0; i < 1 + turns / 2; ++i) world.context.run_one_for(milliseconds(1));
  }
  EXPECT_EQ(open_descriptors(), before);
}

// ---- Threads.

TEST(StartupThreads, MayCancelAtAnyTime) {
  ThreadWorld world;
  std::atomic<int> accepted{0};
  auto listener = start_listen(
                      world.device, kLoopback, {},
                      [&](const std::unique_ptr<provider::IncomingConnection>& incoming) {
                        const auto qp = std::make_shared<FakeQp>();
                        ASSERT_TRUE(incoming->accept(qp, {}));
                        ++accepted;
                      },
                      fake_qps())
                      .value();
  for (int i = 0; i < 300; ++i) {
    const auto calls = std::make_shared<std::atomic<int>>(0);
    auto startup =
        start_connect(*world.device, listener->endpoint(), {}, [calls](const StartupResult&) {
          ++*calls;
        }).value();
    std::this_thread::sleep_for(std::chrono::microseconds(i * 3 % 400));
    if (i % 2 == 0) startup->cancel();
    startup.reset();
    world.settle();
    EXPECT_LE(*calls, 1);
    EXPECT_EQ(calls.use_count(), 1);  // the handler is freed
  }
  EXPECT_GT(accepted, 0);
}

TEST(StartupThreads, MayAnswerFromAnyThread) {
  ThreadWorld world;
  std::mutex mutex;
  std::vector<std::unique_ptr<provider::IncomingConnection>> incoming;
  auto listener = start_listen(
                      world.device, kLoopback, {},
                      [&](std::unique_ptr<provider::IncomingConnection> one) {
                        const std::lock_guard lock(mutex);
                        incoming.push_back(std::move(one));
                      },
                      fake_qps())
                      .value();
  constexpr int kConnections = 120;
  std::atomic<int> done{0}, accepted{0}, rejected{0};
  std::vector<std::unique_ptr<Startup>> startups;
  for (int i = 0; i < kConnections; ++i) {
    startups.push_back(
        start_connect(*world.device, listener->endpoint(), {}, [&](const StartupResult& result) {
          if (std::holds_alternative<RdmaMode>(result)) ++accepted;
          if (std::holds_alternative<StartupRejected>(result)) {
            ++rejected;
          }
          ++done;
        }).value());
  }
  std::vector<std::shared_ptr<FakeQp>> qps;
  for (int answered = 0; answered < kConnections;) {
    std::unique_ptr<provider::IncomingConnection> one;
    {
      const std::lock_guard lock(mutex);
      if (!incoming.empty()) {
        one = std::move(incoming.back());
        incoming.pop_back();
      }
    }
    if (one == nullptr) {
      std::this_thread::sleep_for(milliseconds(1));
      continue;
    }
    if (answered % 3 == 0) {
      EXPECT_TRUE(one->accept(qps.emplace_back(new FakeQp), {}));
    }
    if (answered % 3 == 1) {
      EXPECT_TRUE(one->reject({}));
    }
    ++answered;
  }
  while (done < kConnections) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(accepted, kConnections / 3);
  EXPECT_EQ(rejected, kConnections - kConnections / 3);
  listener.reset();
  startups.clear();
  world.settle();
  for (const auto& qp : qps) EXPECT_NE(qp->mode(), nullptr);
}

TEST(StartupThreads, HaveThePortFreeWhenTheListenerIsGone) {
  ThreadWorld world;
  Endpoint at = kLoopback;
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> over{false};
    auto listener = start_listen(
        world.device, at, {}, [&](const auto&) { EXPECT_FALSE(over); }, fake_qps());
    ASSERT_TRUE(listener) << listener.error().message;
    at = (*listener)->endpoint();
    auto startup = start_connect(*world.device, at, {}, [](const StartupResult&) {}).value();
    std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 500));
    *listener = nullptr;
    over = true;
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
