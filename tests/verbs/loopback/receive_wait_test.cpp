#include "verbs/loopback_pair.hpp"
#include "verbs/loopback_support.hpp"

// QpOptions::receive_wait over real sockets: a program that posts late, and the engine's thread
// that reads.
namespace iwarp::verbs::test {
namespace {

constexpr std::uint64_t kMessages = 200;

QpOptions waiting() {
  QpOptions options;
  options.receive_wait = 1s;
  options.capacity.max_recv_wr = 4;
  options.capacity.max_send_wr = kMessages;
  return options;
}

SendWr note() {
  SendWr request;
  request.opcode = Opcode::kSend;
  request.flags = SendFlags::kSignaled;
  return request;
}

void send_all(QueuePair& qp) {
  for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_TRUE(qp.post_send(note()));
}

// The program's next completion; it sleeps until there is one.
Completion next_of(CompletionQueue& cq) {
  const auto got = cq.wait(10s);
  if (!got) throw std::runtime_error("no completion came");
  return *got;
}

TEST(LoopbackReceiveWait, ProgramWithOneReceiveAtATimeGetsEveryMessage) {
  LoopbackPair pair({}, {}, waiting());
  send_all(pair.client_qp);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    const Completion got = next_of(pair.server.cq);
    ASSERT_EQ(got.status, Status::kSuccess);
    ASSERT_EQ(got.wr_id, i);
  }
}

// Nobody polls: the engine reads, and goes on after the wait.
TEST(LoopbackReceiveWait, EngineGoesOnBehindIt) {
  QpOptions options = waiting();
  options.capacity.max_recv_wr = kMessages;
  LoopbackPair pair({}, {}, options);
  send_all(pair.client_qp);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    if (i % 50 == 0) std::this_thread::sleep_for(20ms);
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    if (i % 4 != 3) continue;
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (pair.server_qp.counters().receives <= i) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      std::this_thread::sleep_for(100us);
    }
  }
}

// The engine reads, until the queue has nothing to receive into, and again after that.
TEST(LoopbackReceiveWait, ProgramThatSleepsOnEventsGetsEveryMessage) {
  LoopbackPair pair({}, {}, waiting());
  send_all(pair.client_qp);
  CompletionQueue& cq = pair.server.cq;
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    cq.arm();
    ASSERT_TRUE(pair.server_qp.post_receive(RecvWr{i, {}}));
    ASSERT_TRUE(sleep_until_readable(cq.event_descriptor(), 10s)) << i;
    ASSERT_TRUE(cq.take_event());
    ASSERT_EQ(poll_for(cq, 1).at(0).wr_id, i);
  }
}

// The queue knows nothing of the wait; nobody polls before its end.
TEST(LoopbackReceiveWait, SharedReceiveEndsIt) {
  Side server;
  auto srq = must(server.pd.create_srq({.max_wr = 4, .max_sge = 1}));
  QpOptions options = waiting();
  options.srq = &srq;
  QueuePair server_qp = server.make_qp(options);
  Side client;
  QueuePair client_qp = client.make_qp(waiting());
  auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
  std::thread acceptor([&] {
    if (auto request = listener.next(10s)) must(request->accept(server_qp));
  });
  must(client_qp.connect(listener.endpoint()));
  acceptor.join();
  ASSERT_TRUE(client_qp.post_send(note()));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(server_qp.counters().receives, 0U);
  ASSERT_TRUE(srq.post_receive(RecvWr{1, {}}));
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (server_qp.counters().receives == 0) ASSERT_LT(std::chrono::steady_clock::now(), until);
  EXPECT_EQ(next_of(server.cq).status, Status::kSuccess);
}

TEST(LoopbackReceiveWait, IsBounded) {
  QpOptions options = waiting();
  options.receive_wait = 300ms;
  LoopbackPair pair({}, {}, options);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(pair.client_qp.post_send(note()));
  ASSERT_TRUE(pair.client_qp.wait_disconnected(10s));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
  EXPECT_EQ(pair.client_qp.terminate_received()->code, 0x02);
}

TEST(LoopbackReceiveWait, IsAtMostASecond) {
  Side side;
  for (const auto wait : {-1ms, 1001ms}) {
    QpOptions options;
    options.receive_wait = wait;
    const auto made = side.pd.create_qp(side.cq, std::move(options));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, std::errc::invalid_argument);
    EXPECT_NE(made.error().message.find("receive_wait"), std::string::npos);
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
