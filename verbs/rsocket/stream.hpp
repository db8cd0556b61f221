#pragma once

#include <cstdint>
#include <deque>
#include <list>

#include "connection.hpp"
#include "wire/message_credits.hpp"
#include "wire/remote_mappings.hpp"
#include "wire/ring.hpp"
#include "wire/scatter.hpp"

namespace iwarp::rsocket {

/// The two streams of octets of a connected rsocket, over its Connection. It does what can be done
/// at once and never waits; every call returns 0 or an errno unless it says otherwise. Not
/// thread-safe.
class Stream {
 public:
  enum class Take { kConsume, kPeek };

  explicit Stream(rdma_cm_id* id) : connection_(id) {}

  /// Creates what is needed and posts the receives, before the connection is made.
  int open(Sizes sizes);
  [[nodiscard]] Hello hello() const { return connection_.hello(); }
  /// The connection is there; the peer said this. Precondition for what follows.
  void meet(const Hello& peer);

  /// Takes what has come and sends what can be sent. Whether that changed anything.
  bool progress();
  /// The connection has ended.
  void end() { ended_ = true; }
  /// Whether the connection has ended, or is useless.
  [[nodiscard]] bool ended() const { return ended_; }
  /// EPROTO if the peer broke the protocol.
  [[nodiscard]] int fault() const { return fault_; }

  /// Octets that receive() would take.
  [[nodiscard]] std::uint64_t readable() const { return inbound_.readable(); }
  /// Whether the peer said that nothing follows what is readable.
  [[nodiscard]] bool peer_finished() const { return peer_finished_; }
  /// Copies what is readable, as far as there is room for it.
  void receive(Scatter& to, Take take);

  /// Octets that send() would take at once, at least.
  [[nodiscard]] std::uint64_t writable() const;
  /// Copies and posts what there is room for.
  int send(Scatter& from);
  /// Nothing follows what was sent. The second call does nothing.
  void finish();
  /// Whether everything, finish() included, was accepted by the transport.
  [[nodiscard]] bool drained() const { return pending_.empty() && connection_.idle(); }

  /// Registers memory and, for remote access, tells the peer its name, `offset`. EINVAL if it is
  /// empty; what registration says.
  int map(void* memory, std::size_t length, std::uint64_t offset, bool remote);
  /// Undoes map() of just this memory; EINVAL if there was none.
  int unmap(const void* memory, std::size_t length);
  [[nodiscard]] std::size_t mappings() const { return mappings_.size(); }
  /// Copies and posts what there is room for, to the peer's memory called `offset`. EFAULT if the
  /// peer has mapped nothing there.
  int write_mapped(Scatter& from, std::uint64_t offset);
  /// Whether write_mapped() would take something.
  [[nodiscard]] bool can_write_mapped() const { return connection_.send_room() > 0; }

  [[nodiscard]] Connection& connection() { return connection_; }

 private:
  struct Mapping {
    const void* memory;
    std::size_t length;
    ibv_mr* mr;
    bool remote;
  };
  /// Mappings, deregistered before the connection's protection domain goes.
  class Mappings : public std::list<Mapping> {
   public:
    ~Mappings();
  };

  [[nodiscard]] std::uint64_t next_chunk(std::uint64_t left) const;
  RingRange stage(Scatter& from, std::uint64_t length);
  int post(const Connection::Write* write, Message message);
  void flush();
  [[nodiscard]] bool may_post_pending() const;
  void handle(const Message& message);
  [[nodiscard]] bool accept(const Message& message);
  void break_off();

  Connection connection_;
  Connection::Polled polled_;
  Hello peer_;
  MessageCredits credits_{0, 0};
  RingSpace outbound_{1};
  RingData inbound_{1};
  std::deque<Message> pending_;  // in order, before any data
  RemoteMappings remote_;
  Mappings mappings_;
  Sizes sizes_;
  bool met_ = false, finished_ = false, peer_finished_ = false, ended_ = false;
  int fault_ = 0;
};

}  // namespace iwarp::rsocket
