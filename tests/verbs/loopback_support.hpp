#pragma once

#include <poll.h>

#include <atomic>
#include <vector>

#include "support/sanitizers.hpp"
#include "verbs/loopback_pair.hpp"

namespace iwarp::verbs::test {

/// How long anything may take here before it counts as stuck; no test depends on being faster.
inline constexpr auto kPatience = 60s;

inline constexpr int kEffort = iwarp::test::kSanitizer ? 1 : 4;

/// Where a test listens.
inline const Endpoint kAnyPort(Address::loopback(), 0);

/// Memory of its own, registered.
struct Buffer {
  Buffer(ProtectionDomain& pd, std::size_t size, Access access, std::byte value = {})
      : memory(size, value), region(must(pd.register_memory(memory, access))) {}

  [[nodiscard]] Sge sge() { return region->sge(); }
  [[nodiscard]] Sge sge(std::size_t at, std::size_t length) {
    return region->sge(at, static_cast<std::uint32_t>(length));
  }
  [[nodiscard]] std::uint64_t to(std::size_t at = 0) const { return region->remote().offset + at; }
  /// The last octet, for a program that waits for a placement by looking at memory.
  [[nodiscard]] std::byte last() {
    return std::atomic_ref(memory.back()).load(std::memory_order_acquire);
  }

  std::vector<std::byte> memory;
  std::optional<MemoryRegion> region;  ///< Reset it to deregister.
};

/// Until the condition holds, calls `meanwhile` again and again; false if it takes too long.
template <typename Condition, typename Meanwhile>
bool eventually(Condition condition, Meanwhile meanwhile) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    meanwhile();
  }
  return true;
}

template <typename Condition>
bool eventually(Condition condition) {
  return eventually(condition, [] { std::this_thread::sleep_for(1ms); });
}

inline bool sleep_until_readable(int descriptor, std::chrono::milliseconds timeout) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(timeout.count())) == 1;
}

/// Polls until `count` completions are there; fewer if it takes too long.
inline std::vector<Completion> poll_for(CompletionQueue& cq, std::size_t count) {
  std::vector<Completion> all;
  eventually([&] { return all.size() >= count; },
             [&] {
               Completion some[16];
               const std::size_t taken =
                   cq.poll(std::span(some).first(std::min<std::size_t>(16, count - all.size())));
               all.insert(all.end(), some, some + taken);
             });
  return all;
}

inline SendWr send_of(std::uint64_t id, std::span<const Sge> sges) {
  return {.wr_id = id, .sges = sges};
}
inline SendWr write_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& target,
                       std::size_t at = 0) {
  return {.wr_id = id,
          .opcode = Opcode::kWrite,
          .sges = sges,
          .remote_stag = target.region->rkey(),
          .remote_offset = target.to(at)};
}
inline SendWr read_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& source,
                      std::size_t at = 0) {
  return {.wr_id = id,
          .opcode = Opcode::kRead,
          .sges = sges,
          .remote_stag = source.region->rkey(),
          .remote_offset = source.to(at)};
}

/// One listener and as many connections as asked for, all on the completion queues of two sides.
struct LoopbackHub {
  LoopbackHub() = default;
  explicit LoopbackHub(std::size_t connections) { connect(connections, {}, {}); }
  void connect(std::size_t connections, const QpOptions& client_options,
               const QpOptions& server_options) {
    auto listener = must(server.device.listen(kAnyPort));
    std::thread acceptor([&] {
      for (std::size_t i = 0; i < connections; ++i) {
        auto request = listener.next(kPatience);
        if (!request) return;
        server_qps.push_back(server.make_qp(server_options));
        if (!request->accept(server_qps.back())) return;
      }
    });
    for (std::size_t i = 0; i < connections; ++i) {
      client_qps.push_back(client.make_qp(client_options));
      if (!client_qps.back().connect(listener.endpoint())) break;
    }
    acceptor.join();
    if (server_qps.size() != connections || client_qps.size() != connections) {
      throw std::runtime_error("not every connection was made");
    }
  }

  static constexpr std::uint32_t kCqDepth = 8192;
  Side client{kCqDepth}, server{kCqDepth};
  std::vector<QueuePair> client_qps, server_qps;
};

/// A client that has asked to connect, and a server whose program has not answered yet.
struct AskedServer {
  AskedServer() { EXPECT_TRUE(client_qp.start_connect(listener.endpoint())); }

  Side client, server;
  Listener listener = must(server.device.listen(kAnyPort));
  QueuePair client_qp = client.make_qp(), server_qp = server.make_qp();
  std::optional<ConnectionRequest> next() { return listener.next(kPatience); }
};

}  // namespace iwarp::verbs::test
