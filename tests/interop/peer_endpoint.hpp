#pragma once

#include <chrono>
#include <optional>

#include "context.hpp"
#include "iwarp/verbs/verbs.hpp"

/// What the little protocols of rdma-core's examples have in common. Everything throws a
/// cli::CommandError.
namespace iwarp::interop {

/// How a connection is made, and how long anything may take.
struct PeerOptions {
  verbs::Endpoint address;  ///< To connect to or to listen at.
  verbs::ConnectOptions connect;
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
  /// An initiator's pause before its first message: Linux 6.1's siw may overlook what comes while
  /// it finishes its side of the start-up.
  std::chrono::milliseconds settle{0};
  std::uint32_t max_fpdu = 0;  ///< As in verbs::QpOptions.
};

/// Which end starts the connection.
enum class Role { kInitiator, kResponder };

/// The connection is over: no more completions will come.
class ConnectionEnded : public cli::CommandError {
 public:
  using cli::CommandError::CommandError;
};

/// One connection with the queues of a small program: a CQ for both directions and few requests.
class PeerEndpoint {
 public:
  PeerEndpoint(verbs::Device& device, const PeerOptions& options);

  /// Memory that lives as long as this, registered.
  verbs::MemoryRegion register_memory(MutableBytes memory, verbs::Access access);

  /// Posts a receive into all of `region`; before and after the connection is there.
  void post_receive(const verbs::MemoryRegion& region);
  /// Connects or takes one connection, by role.
  void establish(Role role);

  /// Posts a Send of all of `region` and waits until it has been accepted by TCP.
  void send(const verbs::MemoryRegion& region);
  /// Reads from `remote` to the start of `region`, and waits for the data.
  void read(const verbs::MemoryRegion& region, const verbs::RemoteBuffer& remote);
  /// Writes the first octets of `region` to `remote`.
  void write(const verbs::MemoryRegion& region, const verbs::RemoteBuffer& remote);
  /// Waits for the oldest message that has not been taken; returns its length.
  std::uint32_t receive();
  /// Ends gracefully and waits for the peer's end.
  void disconnect();

  [[nodiscard]] const verbs::ConnectionInfo& info() const { return info_; }
  [[nodiscard]] verbs::QpCounters counters() const { return queue_pair_->counters(); }

 private:
  void post(const verbs::SendWr& request);
  void await(verbs::CompletionOpcode opcode);
  verbs::Completion next();
  [[noreturn]] void ended(verbs::Status status) const;

  PeerOptions options_;
  verbs::Device& device_;
  verbs::ProtectionDomain domain_;
  verbs::CompletionQueue queue_;
  std::optional<verbs::QueuePair> queue_pair_;
  verbs::ConnectionInfo info_;
  std::optional<std::uint32_t> early_;  // a message that came before the completion awaited
};

}  // namespace iwarp::interop
