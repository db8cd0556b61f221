#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/endpoint.hpp"

namespace iwarp::agent {

/// Where a session listens for iWARP connections.
struct SessionOptions {
  verbs::Address address;
  std::uint16_t port = 0;  ///< 0: another one for each `listen`.
  Attend attend = [] { return true; };
};

/// Everything that one tester has made: gone with it. Used by one thread.
class Session {
 public:
  /// Throws CommandError if the device gives no protection domain.
  Session(verbs::Device& device, SessionOptions options);

  /// The answer to one line, both without LF. Never throws.
  std::string answer(std::string_view line);

 private:
  struct Region {
    std::vector<std::byte> memory;
    std::unique_ptr<verbs::MemoryRegion> registered;
  };
  // session.cpp
  Reply dispatch(const Command& command);
  Reply hello(const Command& command);
  Reply reset(const Command& command);
  /// Throws CommandError (EOPNOTSUPP) if the stack is without it; kNone needs nothing.
  void need(std::string_view feature) const;
  Endpoint& endpoint_of(const Command& command);

  // connection_commands.cpp
  Reply listen(const Command& command);
  Reply await(const Command& command);
  Reply accept(const Command& command);
  Reply reject(const Command& command);
  Reply dial(const Command& command);
  Reply connect(const Command& command);
  Reply event(const Command& command);
  Reply disconnect(const Command& command);
  Reply close(const Command& command);
  std::uint64_t add_endpoint(std::unique_ptr<Endpoint> endpoint);

  // memory_commands.cpp
  Reply region(const Command& command);
  Reply deregister(const Command& command);
  Reply window(const Command& command);
  Reply fetch(const Command& command);
  Reply store(const Command& command);
  Region& region_of(const Command& command);
  /// The pair `access`, a list of rights to a region or a window.
  verbs::Access access_of(const Command& command, agent_protocol::RightTo what) const;
  /// What `region`, `offset` and `length` name; no element if the length is 0.
  std::vector<verbs::Sge> sges_of(const Command& command);

  // transfer_commands.cpp
  Reply receive(const Command& command);
  Reply post(const Command& command);
  Reply completion(const Command& command);

  verbs::Device& device_;
  SessionOptions options_;
  std::vector<agent_protocol::Feature> features_;
  verbs::ProtectionDomain pd_;
  std::uint64_t next_id_ = 1;
  std::size_t octets_ = 0;  // of all regions
  std::map<std::uint64_t, Region> regions_;
  std::vector<verbs::MemoryWindow> windows_;  // they end with their regions and queue pairs
  std::map<std::uint64_t, std::unique_ptr<Endpoint>> endpoints_;
  std::optional<verbs::Listener> listener_;
  verbs::ConnectOptions accepting_;  // as the last `listen` said
};

}  // namespace iwarp::agent
