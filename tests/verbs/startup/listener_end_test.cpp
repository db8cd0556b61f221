#include <gtest/gtest.h>

#include <barrier>
#include <future>

#include "soft/startup/responder/handler_gate.hpp"
#include "verbs/loopback_support.hpp"

// What is promised of a listener that was destroyed.
namespace iwarp::verbs::test {
namespace {

TEST(ListenerEnd, WaitsForItsHandlerHoweverLongThatTakes) {
  Side client, server;
  std::promise<void> inside, go_on;
  std::atomic<bool> over{false};
  auto listener = std::make_unique<Listener>(
      must(server.device.listen(kAnyPort, {}, [&](ConnectionRequest request) {
        inside.set_value();
        go_on.get_future().wait();
        static_cast<void>(request.reject());
        over.store(true);
      })));
  QueuePair qp = client.make_qp();
  ASSERT_TRUE(qp.start_connect(listener->endpoint()));
  inside.get_future().wait();
  auto destroyed = std::async(std::launch::async, [&] {
    listener.reset();
    return over.load();
  });
  EXPECT_EQ(destroyed.wait_for(1500ms), std::future_status::timeout);
  go_on.set_value();
  EXPECT_TRUE(destroyed.get());
}

TEST(ListenerEnd, DoesNotWaitForTheHandlerOfSomethingElse) {
  Side client, server;
  std::promise<void> inside, go_on;
  QpOptions options;
  options.on_event = [&inside, may_go = go_on.get_future().share()](const ConnectionEvent&) {
    inside.set_value();
    may_go.wait();
  };
  auto listener = std::make_unique<Listener>(must(server.device.listen(kAnyPort)));
  const Endpoint nowhere = listener->endpoint();
  listener.reset();
  QueuePair qp = server.make_qp(options);
  ASSERT_TRUE(qp.start_connect(nowhere));
  inside.get_future().wait();
  // The handler goes on only when the listener is gone.
  listener = std::make_unique<Listener>(must(server.device.listen(kAnyPort)));
  listener.reset();
  go_on.set_value();
}

TEST(ListenerEnd, TwoHandlersMayDestroyEachOthersListener) {
  std::barrier<> both(2);
  std::promise<void> done[2];
  Side client;
  Side servers[2];
  std::optional<Listener> listening[2];
  for (std::size_t i = 0; i < 2; ++i) {
    listening[i].emplace(
        must(servers[i].device.listen(kAnyPort, {}, [&, i](const ConnectionRequest&) {
          both.arrive_and_wait();
          listening[1 - i].reset();
          done[i].set_value();
        })));
  }
  QueuePair one = client.make_qp();
  QueuePair other = client.make_qp();
  ASSERT_TRUE(one.start_connect(listening[0]->endpoint()));
  ASSERT_TRUE(other.start_connect(listening[1]->endpoint()));
  for (auto& each : done) {
    EXPECT_EQ(each.get_future().wait_for(kPatience), std::future_status::ready);
  }
}

TEST(HandlerGate, LetsNoCallBeginOnceItIsClosed) {
  soft::HandlerGate gate;
  EXPECT_TRUE(gate.enter());
  gate.leave();
  EXPECT_TRUE(gate.enter());
  gate.close();
  EXPECT_FALSE(gate.enter());
  auto last = std::async(std::launch::async, [&] { gate.await_last(); });
  EXPECT_EQ(last.wait_for(10ms), std::future_status::timeout);
  gate.leave();
  last.get();
  EXPECT_FALSE(gate.enter());
  gate.await_last();
}

}  // namespace
}  // namespace iwarp::verbs::test
