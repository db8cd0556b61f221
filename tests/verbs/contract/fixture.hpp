#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "support/guarded_memory.hpp"
#include "verbs/contract/world.hpp"

namespace iwarp::verbs {
inline void PrintTo(Status status, std::ostream* out) { *out << to_string(status); }
inline void PrintTo(QpState state, std::ostream* out) { *out << to_string(state); }
}  // namespace iwarp::verbs

namespace iwarp::verbs::contract {

using Kind = ConnectionEvent::Kind;
using Bytes = std::vector<std::byte>;

inline constexpr Access kWritable = Access::kLocalWrite | Access::kRemoteWrite;
inline constexpr Access kReachable = kWritable | Access::kRemoteRead;

/// `size` octets that do not repeat with any short period.
Bytes pattern(std::size_t size, std::uint64_t seed = 1);

/// What the handler of a queue pair was told. Thread-safe.
class Told {
 public:
  /// Keeps it, then calls `then`.
  void add(const ConnectionEvent& event);
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t count(Kind kind) const;
  [[nodiscard]] bool has(Kind kind) const { return count(kind) != 0; }
  /// The first of that kind; an empty event if there is none.
  [[nodiscard]] ConnectionEvent first(Kind kind) const;

  /// What else the handler does; set before there is a connection.
  std::function<void(const ConnectionEvent&)> then;

 private:
  mutable std::mutex mutex_;
  std::vector<ConnectionEvent> events_;
};

/// Registered memory between canaries.
struct Buffer {
  Buffer(ProtectionDomain& pd, std::size_t size, Access access);

  [[nodiscard]] Sge sge() const { return region->sge(); }
  [[nodiscard]] Sge sge(std::size_t at, std::size_t length) const {
    return region->sge(at, static_cast<std::uint32_t>(length));
  }
  [[nodiscard]] Stag key() const { return region->rkey(); }
  /// The Tagged Offset of an octet.
  [[nodiscard]] std::uint64_t to(std::size_t at = 0) const { return region->remote().offset + at; }
  void fill(const Bytes& content);
  [[nodiscard]] Bytes content() const { return content(0, memory.size()); }
  [[nodiscard]] Bytes content(std::size_t at, std::size_t length) const;

  iwarp::test::GuardedMemory memory;
  std::optional<MemoryRegion> region;  ///< Reset it to deregister.
};

/// A PD and two completion queues of a device, and what has completed.
class Side {
 public:
  explicit Side(Device& on, std::uint32_t depth = 4096);

  /// Takes all completions that there are.
  void collect();
  /// Memory of its PD; stays in place.
  Buffer& buffer(std::size_t size, Access access = kReachable);
  /// The same with a content.
  Buffer& buffer(const Bytes& content, Access access = kReachable);
  /// Whether nothing was written beside any buffer.
  [[nodiscard]] bool intact() const;

  Device& device;
  std::optional<ProtectionDomain> pd;
  std::optional<CompletionQueue> send_cq, recv_cq;
  std::vector<Completion> sent, received;

 private:
  std::deque<Buffer> buffers_;
};

/// A queue pair of a side, and what its handler was told.
class End {
 public:
  explicit End(Side& of, QpOptions options = {});

  [[nodiscard]] bool over() const { return told->has(Kind::kDisconnected); }

  Side& side;
  const std::shared_ptr<Told> told = std::make_shared<Told>();
  std::optional<QueuePair> qp;  ///< Reset it to destroy.
};

/// A listener that keeps the requests that come.
class Listening {
 public:
  Listening(Device& device, const Endpoint& at, const ListenOptions& options = {});

  [[nodiscard]] Endpoint endpoint() const { return listener->endpoint(); }
  [[nodiscard]] bool has_request() const;
  /// The oldest. Precondition: has_request().
  ConnectionRequest take();

 private:
  struct Requests {
    std::mutex mutex;
    std::deque<ConnectionRequest> waiting;
  };
  const std::shared_ptr<Requests> requests_ = std::make_shared<Requests>();

 public:
  std::optional<Listener> listener;  ///< Reset it to stop listening.
};

/// The fixture of the contract's tests: a world, and a side on each of its devices.
class Contract : public testing::TestWithParam<WorldMaker> {
 protected:
  [[nodiscard]] bool can(Capability what) const { return has(world->capabilities(), what); }
  /// Lets things happen until the condition holds; completions are collected meanwhile.
  bool until(const std::function<bool()>& condition);
  /// Gives what must not happen some time to happen; completions are collected.
  void settle();
  [[nodiscard]] Listening listen() { return Listening(world->server(), world->listen_at()); }
  /// Starts to connect, and returns the request that comes of it; none if none comes.
  std::optional<ConnectionRequest> ask(End& from, Listening& at, const ConnectOptions& asked = {});
  /// Connects the two; false if that fails.
  bool connect(End& from, End& to, const ConnectOptions& asked = {},
               const ConnectOptions& answered = {});
  /// Both have been told that the connection is over.
  bool until_over(const End& one, const End& other);
  /// Posts, waits for the completion, and returns it; with status kFatal if none comes.
  Completion run(End& end, const SendWr& request);
  /// Sends a message through the connection, which shows that it works.
  void expect_service(End& from, End& to);

  const std::unique_ptr<World> world = GetParam().make();
  Side client{world->client()}, server{world->server()};
};

/// The same with a connection.
class ConnectedContract : public Contract {
 protected:
  void SetUp() override { ASSERT_TRUE(connect(left, right)); }

  End left{client}, right{server};
};

/// Ends a test whose promise the world does not make.
#define IWARP_NEEDS(capability) \
  if (!can(capability)) GTEST_SKIP() << "the provider does not promise: " << name_of(capability)

/// Posting that is expected to succeed.
void post(End& end, const SendWr& request);
void post(End& end, const RecvWr& request);

/// Requests that are signaled.
SendWr send_of(std::uint64_t id, std::span<const Sge> sges);
SendWr write_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& to, std::size_t at = 0);
SendWr read_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& from, std::size_t at = 0);

std::vector<std::uint64_t> ids(const std::vector<Completion>& completions);
std::vector<Status> statuses(const std::vector<Completion>& completions);
/// Why it was refused; an empty code if it was not.
std::errc refusal(const Result<void, PostError>& posted);
/// The same of a control verb.
template <typename T>
std::error_code refusal(const Outcome<T>& outcome) {
  return outcome ? std::error_code() : outcome.error().code;
}

}  // namespace iwarp::verbs::contract
