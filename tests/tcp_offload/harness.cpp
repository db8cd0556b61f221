#include "tcp_offload/harness.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <utility>

#include "iwarp/sim/mpa_device.hpp"
#include "iwarp/sim/network.hpp"
#include "iwarp/tcp_offload/capture.hpp"
#include "iwarp/tcp_offload/kernel_device.hpp"
#include "support/hostile_network.hpp"
#include "tcp_offload/capture_reader.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kPatience = 30s;

class KernelHarness final : public Harness {
 public:
  explicit KernelHarness(boost::asio::ip::address loopback)
      : loopback_(std::move(loopback)), work_(boost::asio::make_work_guard(context_)) {}

  Device& client() override { return client_; }
  Device& server() override { return server_; }
  Endpoint listen_at() override { return {loopback_, 0}; }

  bool run_until(const std::function<bool()>& condition) override {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      context_.run_one_for(1ms);
    }
    return true;
  }

  void settle() override {
    for (int round = 0; round < 3; ++round) {
      while (context_.poll() != 0) {
      }
    }
  }

 private:
  const boost::asio::ip::address loopback_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  // Small buffers, so that they fill soon.
  const KernelOptions options_{.send_buffer = 65536, .receive_buffer = 65536};
  KernelDevice client_{context_, options_};
  KernelDevice server_{context_, options_};
};

class SimHarness final : public Harness {
 public:
  explicit SimHarness(const SimOptions& options) : network_(7, options) {}

  Device& client() override { return network_.device(1); }
  Device& server() override { return network_.device(2); }
  Endpoint listen_at() override { return {boost::asio::ip::make_address("10.0.0.2"), 0}; }
  bool run_until(const std::function<bool()>& condition) override {
    // The condition may receive what has arrived long ago, which is no event.
    for (int idle = 0; idle < 10'000; ++idle) {
      if (network_.run_until(condition)) return true;
    }
    return false;
  }
  void settle() override { network_.run_until_idle(); }

 private:
  SimNetwork network_;
};

// Another harness with everything recorded.
class CapturedHarness final : public Harness {
 public:
  explicit CapturedHarness(std::unique_ptr<Harness> inner) : inner_(std::move(inner)) {}

  Device& client() override { return client_; }
  Device& server() override { return server_; }
  Endpoint listen_at() override { return inner_->listen_at(); }
  bool run_until(const std::function<bool()>& condition) override {
    return inner_->run_until(condition);
  }
  void settle() override { inner_->settle(); }

 private:
  const ScratchDirectory directory_;
  const std::unique_ptr<Harness> inner_;
  CaptureDevice client_{inner_->client(), directory_.path()};
  CaptureDevice server_{inner_->server(), directory_.path()};
};

// Another harness with devices that know MPA. What the contract sends is no FPDUs: nothing is
// negotiated for it (mpa_device_test.cpp and mpa_bad_fpdu_test.cpp have what is).
class MpaHarness final : public Harness {
 public:
  explicit MpaHarness(std::unique_ptr<Harness> inner) : inner_(std::move(inner)) {}

  Device& client() override { return client_; }
  Device& server() override { return server_; }
  Endpoint listen_at() override { return inner_->listen_at(); }
  bool run_until(const std::function<bool()>& condition) override {
    return inner_->run_until(condition);
  }
  void settle() override { inner_->settle(); }

 private:
  const std::unique_ptr<Harness> inner_;
  MpaDevice client_{inner_->client(), Offload::kCrc | Offload::kMarkers};
  MpaDevice server_{inner_->server(), Offload::kCrc | Offload::kMarkers};
};

SimOptions scratch() {
  SimOptions options;
  options.lending = SimLending::kScratch;
  return options;
}

}  // namespace

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::kKernelIpv4: return "KernelIpv4";
    case Kind::kKernelIpv6: return "KernelIpv6";
    case Kind::kKernelCaptured: return "KernelCaptured";
    case Kind::kSimQuiet: return "SimQuiet";
    case Kind::kSimHostile: return "SimHostile";
    case Kind::kSimScratch: return "SimScratch";
    case Kind::kSimCaptured: return "SimCaptured";
    case Kind::kSimMpa: return "SimMpa";
  }
  return "?";
}

std::unique_ptr<Harness> make_harness(Kind kind) {
  switch (kind) {
    case Kind::kKernelIpv4:
      return std::make_unique<KernelHarness>(boost::asio::ip::address_v4::loopback());
    case Kind::kKernelIpv6:
      return std::make_unique<KernelHarness>(boost::asio::ip::address_v6::loopback());
    case Kind::kKernelCaptured:
      return std::make_unique<CapturedHarness>(make_harness(Kind::kKernelIpv4));
    case Kind::kSimQuiet: return std::make_unique<SimHarness>(SimOptions());
    case Kind::kSimHostile: return std::make_unique<SimHarness>(iwarp::test::hostile_network());
    case Kind::kSimScratch: return std::make_unique<SimHarness>(scratch());
    case Kind::kSimCaptured:
      return std::make_unique<CapturedHarness>(make_harness(Kind::kSimHostile));
    case Kind::kSimMpa: return std::make_unique<MpaHarness>(make_harness(Kind::kSimHostile));
  }
  return nullptr;
}

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = 12345U + seed;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

TransferHandler Outcome::transfer() {
  return [this](std::error_code e, std::size_t n) {
    ++calls;
    error = e;
    octets = n;
  };
}

ConnectionHandler Outcome::connecting() {
  return [this](std::error_code e, std::unique_ptr<Connection> made) {
    ++calls;
    error = e;
    connection = std::move(made);
  };
}

TimerHandler Outcome::waiting() {
  return [this](std::error_code e) {
    ++calls;
    error = e;
  };
}

std::unique_ptr<Acceptor> Contract::listen(int backlog) {
  auto acceptor = harness_->server().listen(harness_->listen_at(), backlog);
  EXPECT_TRUE(acceptor) << acceptor.error().message();
  return std::move(*acceptor);
}

Contract::Connections Contract::connect() {
  const auto acceptor = listen();
  Outcome accepted;
  Outcome connected;
  acceptor->async_accept(accepted.connecting());
  const auto attempt =
      harness_->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  EXPECT_TRUE(run_until([&] { return accepted.calls + connected.calls == 2; }));
  EXPECT_FALSE(accepted.error) << accepted.error.message();
  EXPECT_FALSE(connected.error) << connected.error.message();
  return {std::move(connected.connection), std::move(accepted.connection)};
}

Contract::Streams Contract::connect_streams() {
  const Connections connections = connect();
  return {connections.client->hand_over({}), connections.server->hand_over({})};
}

std::size_t Contract::send(Stream& stream, ConstBytes bytes) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const Sent sent = stream.send({&piece, 1});
  EXPECT_NE(sent.status, IoStatus::kLost) << sent.error.message();
  EXPECT_EQ(sent.status == IoStatus::kOk && !bytes.empty(), sent.accepted != 0);
  return sent.accepted;
}

std::size_t Contract::fill(Stream& stream, ConstBytes bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    const std::size_t n = send(stream, bytes.subspan(total));
    if (n == 0) break;
    total += n;
  }
  return total;
}

void Contract::send_all(Stream& stream, ConstBytes bytes) {
  ASSERT_TRUE(run_until([&] {
    bytes = bytes.subspan(fill(stream, bytes));
    return bytes.empty();
  }));
}

IoStatus Contract::receive_into(Stream& stream, std::vector<std::byte>& into) {
  std::byte scratch[1000];
  const Received received = stream.receive(scratch);
  EXPECT_EQ(received.status == IoStatus::kOk, !received.data.empty());
  EXPECT_EQ(received.status == IoStatus::kLost, static_cast<bool>(received.error));
  into.insert(into.end(), received.data.begin(), received.data.end());
  stream.consume(received.data.size());
  return received.status;
}

std::vector<std::byte> Contract::receive(Stream& stream, std::size_t size) {
  std::vector<std::byte> got;
  EXPECT_TRUE(run_until([&] {
    while (got.size() < size) {
      const IoStatus status = receive_into(stream, got);
      if (status != IoStatus::kOk) return status != IoStatus::kWouldBlock;
    }
    return true;
  }));
  return got;
}

Received Contract::receive_to_end(Stream& stream) {
  Received received;
  EXPECT_TRUE(run_until([&] {
    std::byte scratch[1000];
    received = stream.receive(scratch);
    stream.consume(received.data.size());
    return received.status == IoStatus::kEndOfStream || received.status == IoStatus::kLost;
  }));
  return received;
}

std::vector<std::byte> Contract::transfer(Stream& from, Stream& to, ConstBytes bytes) {
  std::vector<std::byte> got;
  std::size_t sent = 0;
  EXPECT_TRUE(run_until([&] {
    sent += send(from, bytes.subspan(sent));
    while (receive_into(to, got) == IoStatus::kOk) {
    }
    return got.size() >= bytes.size();
  }));
  return got;
}

}  // namespace iwarp::tcp_offload::test
