#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "iwarp/process/descriptor.hpp"

/// What both ends have to know of each other: over a TCP connection beside those that are measured.
namespace iwarp::bench::channel {

enum class Transport : std::uint8_t { kVerbs, kTcp };

/// What is measured; the first that a client says, as it is in memory.
struct Task {
  Transport transport = Transport::kVerbs;
  std::uint16_t clients = 50;
  std::uint16_t outstanding = 1;  ///< Requests that each client keeps unanswered.
  std::uint16_t size = 100;       ///< Octets of a request, and of an answer.
};

/// The server's first answer: where the clients connect.
struct Where {
  std::uint16_t port = 0;
};

/// What the server has seen from the client's word that all are connected to its last.
struct Seen {
  std::uint64_t exchanges = 0;
  std::uint64_t cpu_nanoseconds = 0;
};

/// Octets of either end to the other. Every error throws.
class Control {
 public:
  explicit Control(process::Descriptor socket) : socket_(std::move(socket)) {}

  template <typename Value>
  void say(const Value& value) {
    send(std::as_bytes(std::span(&value, 1)));
  }
  /// Throws also if the other end has gone.
  template <typename Value>
  Value hear() {
    Value value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// No more will be said.
  void finish();
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  void send(std::span<const std::byte> octets);
  void receive(std::span<std::byte> into);

  process::Descriptor socket_;
};

/// Of all threads of this process.
std::chrono::nanoseconds cpu_time();

}  // namespace iwarp::bench::channel
