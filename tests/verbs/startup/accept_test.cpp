#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "support/log_lines.hpp"
#include "verbs/startup_support.hpp"

/// How a listener accepts: how many it has without a Request, and what a device refuses it.
namespace iwarp::verbs::soft::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// The peer that has been silent for longest makes room, at once.
TEST(Listening, KeepsNoMoreHalfOpenThanItsLimit) {
  SimWorld world;
  std::vector<Error> told;
  provider::ListenOptions options;
  options.max_half_open = 3;
  options.on_no_request = [&](const Error& error) { told.push_back(error); };
  Listening listening(world, options);
  std::vector<std::unique_ptr<RawPeer>> mute;
  for (int i = 0; i < 3; ++i) {
    mute.push_back(std::make_unique<RawPeer>(world, listening.endpoint));
    world.net.advance(milliseconds(100));
  }
  EXPECT_TRUE(told.empty());
  RawPeer good(world, listening.endpoint);
  good.write(request_of());
  world.net.advance(milliseconds(100));
  EXPECT_EQ(listening.calls, 1);
  EXPECT_TRUE(mute[0]->ended());
  EXPECT_FALSE(mute[1]->ended() || mute[2]->ended());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().code, std::errc::connection_aborted);
  EXPECT_THAT(told.front().message, HasSubstr("others needed its place"));
  for (int i = 0; i < 50; ++i) mute.push_back(std::make_unique<RawPeer>(world, listening.endpoint));
  expect_service(world, listening);
}

// The peers of one address take room from each other only.
TEST(Listening, GivesAnAddressItsShareOfHalfOpen) {
  SimWorld world;
  provider::ListenOptions options;
  options.max_half_open = 10;
  options.max_half_open_per_address = 3;
  Listening listening(world, options);
  RawPeer other(world.net.device(3), listening.endpoint);
  world.net.advance(milliseconds(100));
  std::vector<std::unique_ptr<RawPeer>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<RawPeer>(world, listening.endpoint));
    world.net.advance(milliseconds(10));
  }
  const auto open = std::ranges::count_if(many, [](const auto& one) { return !one->ended(); });
  EXPECT_EQ(open, 3);
  EXPECT_FALSE(many.back()->ended());
  EXPECT_FALSE(other.ended());
}

TEST(Listening, TakesRoomFromTheAddressThatHasTheMost) {
  SimWorld world;
  provider::ListenOptions options;
  options.max_half_open = 4;
  Listening listening(world, options);
  RawPeer other(world.net.device(3), listening.endpoint);
  std::vector<std::unique_ptr<RawPeer>> many;
  for (int i = 0; i < 20; ++i) {
    world.net.advance(milliseconds(10));
    many.push_back(std::make_unique<RawPeer>(world, listening.endpoint));
  }
  world.net.advance(milliseconds(100));
  EXPECT_FALSE(other.ended());
  other.write(request_of());
  world.net.advance(milliseconds(100));
  EXPECT_EQ(listening.calls, 1);
}

TEST(Listening, MayBeEndedByTheHandlerThatHearsOfOneThatMakesRoom) {
  SimWorld world;
  std::unique_ptr<Listening> listening;
  provider::ListenOptions options;
  options.max_half_open = 1;
  options.on_no_request = [&](const Error&) { listening.reset(); };
  listening = std::make_unique<Listening>(world, options);
  RawPeer first(world, listening->endpoint);
  world.net.advance(milliseconds(10));
  RawPeer second(world, listening->endpoint);
  ASSERT_TRUE(world.run_until([&] { return first.ended() && second.ended(); }));
  EXPECT_EQ(listening, nullptr);
}

// What it throws is not the newcomer's fault, for which the other one made room.
TEST(Listening, GoesOnWhenTheHandlerThatHearsOfOneThrows) {
  SimWorld world;
  int told = 0;
  provider::ListenOptions options;
  options.max_half_open = 1;
  options.on_no_request = [&](const Error&) {
    ++told;
    throw std::runtime_error("the program's own");
  };
  Listening listening(world, options);
  RawPeer first(world, listening.endpoint);
  world.net.advance(milliseconds(10));
  RawPeer second(world, listening.endpoint);
  second.write(request_of());
  ASSERT_TRUE(world.run_until([&] { return first.ended() && listening.calls == 1; }));
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(second.ended());
}

TEST(Listening, DoesNotCountWhatWaitsForTheUser) {
  SimWorld world;
  provider::ListenOptions options;
  options.max_half_open = 1;
  Listening listening(world, options);
  std::vector<std::unique_ptr<RawPeer>> peers;
  for (std::size_t i = 1; i <= 5; ++i) {
    peers.push_back(std::make_unique<RawPeer>(world, listening.endpoint));
    peers.back()->write(request_of());
    world.net.advance(milliseconds(100));
    EXPECT_EQ(listening.incoming.size(), i);
  }
}

TEST(Listening, ServesOneAtATimeEvenWithNoRoomGiven) {
  SimWorld world;
  provider::ListenOptions options;
  options.max_half_open = 0;
  Listening listening(world, options);
  expect_service(world, listening);
}

// What a peer has sent by then is not looked at, and it takes no room from the others.
TEST(Listening, ClosesTheConnectionsThatTheProgramDoesNotAdmit) {
  SimWorld world;
  int told = 0;
  std::vector<Endpoint> asked;
  provider::ListenOptions options;
  options.max_half_open = 1;
  options.on_no_request = [&](const Error&) { ++told; };
  options.admits = [&](const Endpoint& peer) {
    asked.push_back(peer);
    return peer.address() != boost::asio::ip::make_address("10.0.0.3");
  };
  Listening listening(world, options);
  RawPeer wanted(world, listening.endpoint);
  world.net.advance(milliseconds(100));
  RawPeer unwanted(world.net.device(3), listening.endpoint);
  unwanted.write(request_of());
  ASSERT_TRUE(world.run_until([&] { return unwanted.ended(); }));
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_EQ(listening.calls, 0);
  EXPECT_EQ(told, 0);
  EXPECT_FALSE(wanted.ended());
  wanted.write(request_of());
  ASSERT_TRUE(world.run_until([&] { return listening.calls == 1; }));
}

TEST(Listening, DoesNotAdmitWhereTheProgramThrows) {
  SimWorld world;
  bool throws = true;
  provider::ListenOptions options;
  options.admits = [&](const Endpoint&) -> bool {
    if (throws) throw std::bad_alloc();
    return true;
  };
  Listening listening(world, options);
  RawPeer unlucky(world, listening.endpoint);
  ASSERT_TRUE(world.run_until([&] { return unlucky.ended(); }));
  throws = false;
  expect_service(world, listening);
}

TEST(Listening, MayBeEndedByTheQuestionWhetherItAdmitsAPeer) {
  SimWorld world;
  std::unique_ptr<Listening> listening;
  provider::ListenOptions options;
  options.admits = [&](const Endpoint&) {
    listening.reset();
    return true;
  };
  listening = std::make_unique<Listening>(world, options);
  RawPeer peer(world, listening->endpoint);
  ASSERT_TRUE(world.run_until([&] { return peer.ended(); }));
  EXPECT_EQ(listening, nullptr);
}

// ---- Errors of the device.

/// Fails as often as it is told, then works.
class FailingAcceptor final : public tcp_offload::Acceptor {
 public:
  FailingAcceptor(tcp_offload::Device& device, std::unique_ptr<tcp_offload::Acceptor> real,
                  int& failures)
      : device_(device), real_(std::move(real)), failures_(failures) {}

  void async_accept(tcp_offload::ConnectionHandler handler) override {
    if (failures_ == 0) return real_->async_accept(std::move(handler));
    --failures_;
    device_.post([h = std::move(handler)]() mutable {
      h(std::make_error_code(std::errc::operation_not_permitted), nullptr);
    });
  }
  [[nodiscard]] tcp_offload::Endpoint local_endpoint() const override {
    return real_->local_endpoint();
  }
  void close() override { real_->close(); }

 private:
  tcp_offload::Device& device_;
  std::unique_ptr<tcp_offload::Acceptor> real_;
  int& failures_;
};

/// A device whose acceptors fail at first, and that may have no memory for a timer.
class FailingDevice final : public tcp_offload::Device {
 public:
  int timers_without_memory = 0;   ///< So many more cannot be made.
  int posts_without_memory = 0;    ///< So many more are refused.
  int waits_before_shortage = -1;  ///< So many more begin; if negative, all.

  FailingDevice(std::shared_ptr<tcp_offload::Device> real, int& failures)
      : real_(std::move(real)), failures_(failures) {}

  [[nodiscard]] std::string_view name() const override { return "failing"; }
  [[nodiscard]] tcp_offload::Offloads offloads() const override { return {}; }
  Result<std::unique_ptr<tcp_offload::Acceptor>, std::error_code> listen(
      const tcp_offload::Endpoint& at, const tcp_offload::ListenTerms& terms) override {
    return std::unique_ptr<tcp_offload::Acceptor>(std::make_unique<FailingAcceptor>(
        *real_, std::move(real_->listen(at, terms)).value(), failures_));
  }
  std::unique_ptr<tcp_offload::ConnectAttempt> async_connect_from(
      const tcp_offload::LocalEnd& from, const tcp_offload::Endpoint& to,
      tcp_offload::ConnectionHandler handler) override {
    return real_->async_connect_from(from, to, std::move(handler));
  }
  Result<std::unique_ptr<tcp_offload::Connection>, std::error_code> adopt(int socket) override {
    return real_->adopt(socket);
  }
  std::unique_ptr<tcp_offload::Timer> make_timer() override {
    if (timers_without_memory != 0 && timers_without_memory-- != 0) throw std::bad_alloc();
    return std::make_unique<Timer>(*this, real_->make_timer());
  }
  [[nodiscard]] Clock::time_point now() const override { return real_->now(); }
  void post(tcp_offload::Handler<> task) override {
    if (posts_without_memory != 0 && posts_without_memory-- != 0) throw std::bad_alloc();
    real_->post(std::move(task));
  }

 private:
  class Timer final : public tcp_offload::Timer {
   public:
    Timer(FailingDevice& device, std::unique_ptr<tcp_offload::Timer> real)
        : device_(device), real_(std::move(real)) {}
    void async_wait(std::chrono::nanoseconds delay, tcp_offload::TimerHandler handler) override {
      if (device_.waits_before_shortage == 0) throw std::bad_alloc();
      if (device_.waits_before_shortage > 0) --device_.waits_before_shortage;
      real_->async_wait(delay, std::move(handler));
    }
    void cancel() override { real_->cancel(); }

   private:
    FailingDevice& device_;
    std::unique_ptr<tcp_offload::Timer> real_;
  };

  std::shared_ptr<tcp_offload::Device> real_;
  int& failures_;
};

TEST(Listening, RestsAfterAnErrorOfAccept) {
  SimWorld world;
  int failures = 1000;
  const auto device = std::make_shared<FailingDevice>(world.server(), failures);
  int calls = 0;
  const auto listener = start_listen(
                            device, world.any_port(), {}, [&](const auto&) { ++calls; }, fake_qps())
                            .value();
  world.net.advance(seconds(1));
  EXPECT_GT(failures, 1000 - 30);
  EXPECT_LT(failures, 1000 - 3);
  failures = 0;
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listener->endpoint()));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  EXPECT_EQ(calls, 1);
}

// A program may let a request go at any time, and a destructor cannot fail.
TEST(Listening, RejectsLaterWhatIsLetGoWithoutMemory) {
  SimWorld world;
  int failures = 0;
  const auto device = std::make_shared<FailingDevice>(world.server(), failures);
  std::unique_ptr<provider::IncomingConnection> request;
  const auto listener = start_listen(
                            device, world.any_port(), {},
                            [&](auto incoming) { request = std::move(incoming); }, fake_qps())
                            .value();
  RawPeer peer(world, listener->endpoint());
  peer.write(request_of());
  ASSERT_TRUE(world.run_until([&] { return request != nullptr; }));
  device->posts_without_memory = 1;
  request.reset();
  EXPECT_EQ(device->posts_without_memory, 0);
  world.net.advance(kDecisionTimeout / 2);
  EXPECT_FALSE(peer.ended());
  world.net.advance(kDecisionTimeout);
  EXPECT_TRUE(peer.ended());
}

// What has no memory for its start-up is lost, and nothing else.
TEST(Listening, GoesOnWhenThereWasNoMemoryForAConnection) {
  SimWorld world;
  const iwarp::test::LogLines lines;
  int failures = 0;
  const auto device = std::make_shared<FailingDevice>(world.server(), failures);
  int calls = 0;
  const auto listener = start_listen(
                            device, world.any_port(), {}, [&](const auto&) { ++calls; }, fake_qps())
                            .value();
  world.net.advance(milliseconds(10));
  device->timers_without_memory = 2;
  RawPeer first(world, listener->endpoint()), second(world, listener->endpoint());
  ASSERT_TRUE(world.run_until([&] { return first.ended() && second.ended(); }));
  EXPECT_EQ(lines.with("as far as the system permits: Cannot allocate memory").size(), 1U);
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listener->endpoint()));
  ASSERT_TRUE(world.run_until([&] { return connecting.done(); }));
  EXPECT_EQ(calls, 1);
}

// The peer is let go at once, rather than held without a time-out.
TEST(Listening, WaitsForNoRequestWithoutATimer) {
  for (const int waits : {1, 2, 3, 5}) {
    SimWorld world;
    int failures = 0;
    const auto device = std::make_shared<FailingDevice>(world.server(), failures);
    std::vector<Error> told;
    provider::ListenOptions options;
    options.on_no_request = [&](const Error& error) { told.push_back(error); };
    const auto listener = start_listen(
                              device, world.any_port(), options, [](const auto&) {}, fake_qps())
                              .value();
    world.net.advance(milliseconds(10));
    device->waits_before_shortage = waits;
    RawPeer silent(world, listener->endpoint());
    ASSERT_TRUE(world.run_until([&] { return silent.connected() && silent.ended(); })) << waits;
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front().code, std::errc::timed_out);
    EXPECT_EQ(device->waits_before_shortage, 0);
    device->waits_before_shortage = -1;
  }
}

}  // namespace
}  // namespace iwarp::verbs::soft::test
