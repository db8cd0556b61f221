#include "verbs/loopback_support.hpp"

// On sockets: while a handler is being told how the start-up ended, a thread that polls gets
// nothing.
namespace iwarp::verbs::test {
namespace {

using Kind = ConnectionEvent::Kind;

// What a handler that polls finds.
class Watched {
 public:
  explicit Watched(Side& side) : side_(side) {}

  /// Options whose handler polls once `before` has returned.
  QpOptions options(std::function<void()> before = [] {}) {
    QpOptions made;
    made.on_event = [this, before = std::move(before)](const ConnectionEvent& event) {
      before();
      Completion some[4];
      for (int i = 0; i < 50; ++i) seen_ += side_.cq.poll(some);
      kind_ = event.kind;
      told_.store(true);
      told_.notify_all();
    };
    return made;
  }
  Kind await() {
    told_.wait(false);
    return kind_;
  }
  [[nodiscard]] std::size_t seen() const { return seen_; }

 private:
  Side& side_;
  std::size_t seen_ = 0;
  Kind kind_{};
  std::atomic<bool> told_{false};
};

TEST(SocketEventOrder, FirstMessageFollowsTheConnection) {
  Side client;
  Side server;
  auto listener = must(server.device.listen(kAnyPort));
  std::atomic<bool> has_sent{false};
  Watched watched(server);
  QueuePair theirs = server.make_qp(watched.options([&] { has_sent.wait(false); }));
  QueuePair mine = client.make_qp();
  ASSERT_TRUE(theirs.post_receive(RecvWr{1, {}}));
  ASSERT_TRUE(mine.start_connect(listener.endpoint()));
  auto request = listener.next(kPatience);
  ASSERT_TRUE(request);
  ASSERT_TRUE(request->start_accept(theirs));
  EXPECT_TRUE(eventually([&] { return mine.state() == QpState::kRts; }));
  ASSERT_TRUE(mine.post_send(send_of(2, {})));
  EXPECT_EQ(poll_for(client.cq, 1).size(), 1U);
  has_sent.store(true);
  has_sent.notify_all();
  EXPECT_EQ(watched.await(), Kind::kEstablished);
  EXPECT_EQ(watched.seen(), 0U);
  const auto received = poll_for(server.cq, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].status, Status::kSuccess);
}

class SocketEventOrderOfFailures : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Events, SocketEventOrderOfFailures,
                         testing::Values(Kind::kRejected, Kind::kFailed, Kind::kDisconnected),
                         [](const testing::TestParamInfo<Kind>& of) {
                           return of.param == Kind::kRejected ? "Rejected"
                                  : of.param == Kind::kFailed ? "Refused"
                                                              : "Aborted";
                         });

TEST_P(SocketEventOrderOfFailures, FlushFollowsTheEvent) {
  Side client;
  Side server;
  auto listener = std::optional(must(server.device.listen(kAnyPort)));
  const Endpoint at = listener->endpoint();
  if (GetParam() == Kind::kFailed) listener.reset();
  Watched watched(client);
  QueuePair mine = client.make_qp(watched.options());
  ASSERT_TRUE(mine.post_receive(RecvWr{1, {}}));
  ASSERT_TRUE(mine.start_connect(at));
  if (GetParam() == Kind::kDisconnected) mine.abort();
  if (GetParam() == Kind::kRejected) {
    auto request = listener->next(kPatience);
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->reject());
  }
  EXPECT_EQ(watched.await(), GetParam() == Kind::kRejected ? Kind::kRejected : Kind::kFailed);
  EXPECT_EQ(watched.seen(), 0U);
  const auto flushed = poll_for(client.cq, 1);
  ASSERT_EQ(flushed.size(), 1U);
  EXPECT_EQ(flushed[0].status, Status::kFlushed);
  EXPECT_TRUE(mine.drain(kPatience));
}

}  // namespace
}  // namespace iwarp::verbs::test
