#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "iwarp/mpa/startup_frame.hpp"
#include "iwarp/sim/network.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "soft/startup/startup.hpp"

/// Two hosts, and both sides of a start-up.
namespace iwarp::verbs::soft::test {

using Bytes = std::vector<std::byte>;

inline Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(static_cast<unsigned>(i) * 7U + seed);
  return bytes;
}

/// Somewhere for two devices to live, and a way to let them run.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual std::shared_ptr<tcp_offload::Device> client() = 0;
  [[nodiscard]] virtual std::shared_ptr<tcp_offload::Device> server() = 0;
  [[nodiscard]] virtual Endpoint any_port() const = 0;
  /// Lets things happen until the condition holds; false if it never does.
  virtual bool run_until(const std::function<bool()>& condition) = 0;
};

class SimWorld final : public World {
 public:
  explicit SimWorld(const tcp_offload::SimOptions& options = {}, std::uint64_t seed = 1)
      : net(seed, options) {}
  ~SimWorld() override { net.run_until_idle(); }

  std::shared_ptr<tcp_offload::Device> client() override { return lend(1); }
  std::shared_ptr<tcp_offload::Device> server() override { return lend(2); }
  [[nodiscard]] Endpoint any_port() const override {
    return {boost::asio::ip::make_address("10.0.0.2"), 0};
  }
  bool run_until(const std::function<bool()>& condition) override {
    return net.run_until(condition, 1'000'000);
  }

  tcp_offload::SimNetwork net;

 private:
  std::shared_ptr<tcp_offload::Device> lend(unsigned host) {
    return {&net.device(host), [](tcp_offload::Device*) {}};
  }
};

/// The kernel's loopback, run by the calling thread.
class KernelWorld final : public World {
 public:
  std::shared_ptr<tcp_offload::Device> client() override { return device; }
  std::shared_ptr<tcp_offload::Device> server() override { return device; }
  [[nodiscard]] Endpoint any_port() const override {
    return {boost::asio::ip::make_address("127.0.0.1"), 0};
  }
  bool run_until(const std::function<bool()>& condition) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      context.restart();
      context.run_one_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  boost::asio::io_context context{1};
  std::shared_ptr<tcp_offload::Device> device =
      std::make_shared<tcp_offload::KernelDevice>(context);
};

/// An initiator.
class Connecting {
 public:
  /// What is to be done in the handler, after the result was kept.
  std::function<void()> then;

  Outcome<void> start(World& world, const Endpoint& to, const ConnectOptions& options = {}) {
    auto started = start_connect(*world.client(), to, options, [this](StartupResult r) {
      ++calls;
      result = std::move(r);
      if (then) then();
    });
    if (!started) return failure(started.error());
    startup = std::move(*started);
    return {};
  }
  [[nodiscard]] bool done() const { return result.has_value(); }
  [[nodiscard]] RdmaMode* mode() { return result ? std::get_if<RdmaMode>(&*result) : nullptr; }
  [[nodiscard]] StartupRejected* rejected() {
    return result ? std::get_if<StartupRejected>(&*result) : nullptr;
  }
  [[nodiscard]] Error* error() { return result ? std::get_if<Error>(&*result) : nullptr; }

  int calls = 0;
  std::optional<StartupResult> result;
  std::unique_ptr<Startup> startup;
};

/// A queue pair of which only the start-up is real.
class FakeQp final : public provider::Qp, public ResponderQp {
 public:
  std::function<void()> then;

  bool begin_startup() override { return !std::exchange(begun, true); }
  void finish_startup(StartupResult r) override {
    ++calls;
    result = std::move(r);
    if (then) then();
  }
  [[nodiscard]] bool done() const { return result.has_value(); }
  [[nodiscard]] RdmaMode* mode() { return result ? std::get_if<RdmaMode>(&*result) : nullptr; }
  [[nodiscard]] Error* error() { return result ? std::get_if<Error>(&*result) : nullptr; }

  Result<void, PostError> post_send(std::span<const SendWr>, Posting) override { return {}; }
  Result<void, PostError> post_receive(std::span<const RecvWr>) override { return {}; }
  void allow_peer(Access) override {}
  Outcome<void> connect(const Endpoint&, const ConnectOptions&) override { return {}; }
  Outcome<void> adopt(StreamingSocket&, const ConnectOptions&) override { return {}; }
  void disconnect() override {}
  void close() override {}
  void abort() override {}
  void release() override {}
  [[nodiscard]] bool drained() const override { return true; }
  [[nodiscard]] QpState state() const override { return QpState::kIdle; }
  [[nodiscard]] std::uint32_t number() const override { return 7; }
  [[nodiscard]] QpCapacity capacity() const override { return {}; }
  [[nodiscard]] QpCounters counters() const override { return {}; }
  [[nodiscard]] std::optional<TerminateInfo> terminate_sent() const override { return {}; }
  [[nodiscard]] std::optional<TerminateInfo> terminate_received() const override { return {}; }
  [[nodiscard]] Diagnosis diagnosis() const override { return {}; }

  bool begun = false;
  int calls = 0;
  std::optional<StartupResult> result;
};

inline AsResponder fake_qps() {
  return [](const std::shared_ptr<provider::Qp>& qp) {
    return std::dynamic_pointer_cast<ResponderQp>(qp);
  };
}

/// A responder that keeps what comes.
class Listening {
 public:
  /// What is to be done with a request; otherwise it is kept.
  std::function<void(std::unique_ptr<provider::IncomingConnection>)> on_incoming;

  explicit Listening(World& world, const provider::ListenOptions& options = {}) {
    listener = start_listen(
                   world.server(), world.any_port(), options,
                   [this](std::unique_ptr<provider::IncomingConnection> one) {
                     ++calls;
                     if (on_incoming) return on_incoming(std::move(one));
                     incoming.push_back(std::move(one));
                   },
                   fake_qps())
                   .value();
    endpoint = listener->endpoint();
  }

  int calls = 0;
  Endpoint endpoint;
  std::shared_ptr<provider::Listener> listener;
  std::vector<std::unique_ptr<provider::IncomingConnection>> incoming;
};

/// A proper initiator gets through.
inline void expect_service(World& world, Listening& listening) {
  const auto qp = std::make_shared<FakeQp>();
  const auto before = std::exchange(listening.on_incoming,
                                    [&](std::unique_ptr<provider::IncomingConnection> incoming) {
                                      ASSERT_TRUE(incoming->accept(qp, {}));
                                    });
  Connecting connecting;
  ASSERT_TRUE(connecting.start(world, listening.endpoint));
  ASSERT_TRUE(world.run_until([&] { return connecting.done() && qp->done(); }));
  EXPECT_NE(connecting.mode(), nullptr);
  listening.on_incoming = before;
}

}  // namespace iwarp::verbs::soft::test
