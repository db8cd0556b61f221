#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::tcp_offload::test {

/// What the contract's tests run against.
enum class Kind {
  kKernelIpv4,
  kKernelIpv6,
  kKernelCaptured,
  kSimQuiet,
  kSimHostile,
  kSimScratch,
  kSimCaptured,
  kSimMpa
};

std::string to_string(Kind kind);
inline void PrintTo(Kind kind, std::ostream* out) { *out << to_string(kind); }

/// Two hosts' devices and the means to let time pass.
class Harness {
 public:
  virtual ~Harness() = default;
  virtual Device& client() = 0;
  virtual Device& server() = 0;
  /// An endpoint for the server to listen at, with port 0.
  virtual Endpoint listen_at() = 0;
  /// Runs the executor until `condition` holds, which is asked again and again; false if it never
  /// does.
  virtual bool run_until(const std::function<bool()>& condition) = 0;
  /// Runs every handler that is ready to run.
  virtual void settle() = 0;
};

std::unique_ptr<Harness> make_harness(Kind kind);

/// `size` octets that do not repeat with any short period.
std::vector<std::byte> pattern(std::size_t size, unsigned seed = 0);

/// What a handler reported, and how often.
struct Outcome {
  int calls = 0;
  std::error_code error;
  std::size_t octets = 0;
  std::unique_ptr<Connection> connection;

  TransferHandler transfer();
  ConnectionHandler connecting();
  TimerHandler waiting();
};

/// The fixture of the contract's tests.
class Contract : public ::testing::TestWithParam<Kind> {
 protected:
  struct Connections {
    std::unique_ptr<Connection> client;
    std::unique_ptr<Connection> server;
  };
  struct Streams {
    std::unique_ptr<Stream> client;
    std::unique_ptr<Stream> server;
  };

  [[nodiscard]] static bool simulated() { return GetParam() >= Kind::kSimQuiet; }

  std::unique_ptr<Acceptor> listen(int backlog = 16);
  Connections connect();
  Streams connect_streams();
  bool run_until(const std::function<bool()>& condition) { return harness_->run_until(condition); }

  /// Sends what it can of `bytes`; returns how many octets.
  static std::size_t send(Stream& stream, ConstBytes bytes);
  /// Sends until nothing more is accepted; returns how many octets were.
  static std::size_t fill(Stream& stream, ConstBytes bytes);
  /// Sends everything. The other end must have room for it.
  void send_all(Stream& stream, ConstBytes bytes);
  /// Receives once; what was lent is copied behind `into` and consumed.
  static IoStatus receive_into(Stream& stream, std::vector<std::byte>& into);
  /// Receives `size` octets, or fewer if the stream ends.
  std::vector<std::byte> receive(Stream& stream, std::size_t size);
  /// Receives and drops everything until the stream has ended; returns how.
  Received receive_to_end(Stream& stream);
  /// Sends `bytes` at one end while it receives at the other; returns what arrived.
  std::vector<std::byte> transfer(Stream& from, Stream& to, ConstBytes bytes);

  const std::unique_ptr<Harness> harness_ = make_harness(GetParam());
};

/// Runs the tests of a suite derived from Contract on every device.
#define IWARP_ON_EVERY_DEVICE(suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      , suite,                                                                                     \
      ::testing::Values(Kind::kKernelIpv4, Kind::kKernelIpv6, Kind::kKernelCaptured,               \
                        Kind::kSimQuiet, Kind::kSimHostile, Kind::kSimScratch, Kind::kSimCaptured, \
                        Kind::kSimMpa),                                                            \
      [](const auto& of) { return to_string(of.param); })

}  // namespace iwarp::tcp_offload::test
