#include "listener.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "connection.hpp"
#include "fabric.hpp"

namespace iwarp::tcp_offload::sim {

Listener::Listener(World& world, Program& program, int backlog)
    : world_(world), program_(program), backlog_(static_cast<std::size_t>(std::max(backlog, 1))) {}

void Listener::add(LinkEnd end) {
  queue_.push_back(std::move(end));
  serve();
}

void Listener::accept(ConnectionHandler handler) {
  assert(!waiting_);
  waiting_ = std::move(handler);
  serve();
}

void Listener::serve() {
  if (!waiting_ || (!closed_ && queue_.empty())) return;
  std::unique_ptr<Connection> connection;
  if (!closed_) {
    connection = std::make_unique<SimConnection>(std::move(queue_.front()), program_);
    queue_.pop_front();
  }
  auto tell = [self = shared_from_this(), handler = std::move(waiting_),
               made = std::move(connection)]() mutable {
    if (!self->alive_) return;
    const auto error = made ? std::error_code() : system_error(ECANCELED);
    handler(error, std::move(made));
  };
  world_.schedule.soon([program = &program_, tell = std::move(tell)]() mutable {
    program->call(Program::Source::kOther, std::move(tell));
  });
}

void Listener::close() {
  closed_ = true;
  for (const LinkEnd& end : queue_) end.abort();
  queue_.clear();
  serve();
}

SimAcceptor::SimAcceptor(Fabric& fabric, std::shared_ptr<Listener> listener, const Endpoint& bound,
                         const Endpoint& shown)
    : fabric_(fabric), listener_(std::move(listener)), bound_(bound), shown_(shown) {
  fabric_.listeners.emplace(bound_, listener_.get());
}

SimAcceptor::~SimAcceptor() {
  listener_->abandon();
  close();
}

void SimAcceptor::close() {
  const auto entry = fabric_.listeners.find(bound_);
  if (entry != fabric_.listeners.end() && entry->second == listener_.get()) {
    fabric_.listeners.erase(entry);
  }
  listener_->close();
}

}  // namespace iwarp::tcp_offload::sim
