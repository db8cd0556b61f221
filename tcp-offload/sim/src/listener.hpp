#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "link.hpp"
#include "program.hpp"

namespace iwarp::tcp_offload::sim {

class Fabric;

/// What listens at an endpoint: connections that wait to be accepted, or an accept that waits.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(World& world, Program& program, int backlog);

  /// Takes a new connection if there is room in the queue.
  [[nodiscard]] bool has_room() const { return queue_.size() < backlog_; }
  void add(LinkEnd end);
  void accept(ConnectionHandler handler);
  /// Ends the accept that waits and resets the connections that wait.
  void close();
  /// Handlers that have not been called yet are dropped.
  void abandon() { alive_ = false; }

 private:
  void serve();

  World& world_;
  Program& program_;
  const std::size_t backlog_;
  std::deque<LinkEnd> queue_;
  ConnectionHandler waiting_;
  bool closed_ = false;
  bool alive_ = true;
};

/// A listener's owner.
class SimAcceptor final : public Acceptor {
 public:
  /// `bound` is where the network finds the listener, `shown` the endpoint that was asked for.
  SimAcceptor(Fabric& fabric, std::shared_ptr<Listener> listener, const Endpoint& bound,
              const Endpoint& shown);
  ~SimAcceptor() override;

  void async_accept(ConnectionHandler handler) override { listener_->accept(std::move(handler)); }
  [[nodiscard]] Endpoint local_endpoint() const override { return shown_; }
  void close() override;

 private:
  Fabric& fabric_;
  const std::shared_ptr<Listener> listener_;
  const Endpoint bound_;
  const Endpoint shown_;
};

}  // namespace iwarp::tcp_offload::sim
