#include "connection.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <optional>
#include <utility>

#include "stream.hpp"

namespace iwarp::tcp_offload::sim {

struct SimConnection::State : std::enable_shared_from_this<State> {
  struct Read {
    MutableBytes into;
    std::size_t least;
    std::size_t done;
    TransferHandler handler;
  };
  struct Write {
    ConstBytes from;
    std::size_t done;
    TransferHandler handler;
  };

  State(LinkEnd e, Program& p) : world(e.world()), program(p), end(std::move(e)) {}

  void start_read(Read operation);
  void start_write(Write operation);
  void progress();
  void progress_read();
  void progress_write();
  void end_operations(std::error_code error);
  template <typename Operation>
  void complete(std::optional<Operation>& operation, std::error_code error);

  World& world;
  Program& program;
  std::optional<LinkEnd> end;  // nothing once closed or handed over
  std::optional<Read> read;
  std::optional<Write> write;
  bool alive = true;  // false once the connection is being destroyed: handlers are dropped
};

void SimConnection::State::start_read(Read operation) {
  assert(!read);
  read.emplace(std::move(operation));
  if (!end) return complete(read, system_error(EBADF));
  progress_read();
}

void SimConnection::State::start_write(Write operation) {
  assert(!write);
  write.emplace(std::move(operation));
  if (!end) return complete(write, system_error(EBADF));
  progress_write();
}

void SimConnection::State::progress() {
  progress_read();
  progress_write();
}

void SimConnection::State::progress_read() {
  if (!read) return;
  Pipe& in = end->in();
  if (const std::size_t n = std::min(in.unread(), read->into.size() - read->done)) {
    in.take(read->into.subspan(read->done, n));
    in.consumed(n);
    read->done += n;
  }
  if (read->done >= read->least) return complete(read, {});
  if (end->lost()) return complete(read, end->lost());
  if (in.ended()) return complete(read, Error::kEndOfStream);
}

void SimConnection::State::progress_write() {
  if (!write) return;
  if (end->lost()) return complete(write, end->lost());
  const ConstBytes rest = write->from.subspan(write->done);
  // The data path's type of pieces has no constness; nothing is written there.
  const iovec piece{const_cast<std::byte*>(rest.data()), rest.size()};
  write->done += end->out().accept({&piece, 1}, rest.size(), SimMemory::kCopied);
  if (write->done == write->from.size()) return complete(write, {});
}

void SimConnection::State::end_operations(std::error_code error) {
  if (read) complete(read, error);
  if (write) complete(write, error);
}

template <typename Operation>
void SimConnection::State::complete(std::optional<Operation>& operation, std::error_code error) {
  auto tell = [self = shared_from_this(), handler = std::move(operation->handler),
               done = operation->done, error]() mutable {
    if (self->alive) handler(error, done);
  };
  world.schedule.soon([called = &program, tell = std::move(tell)]() mutable {
    called->call(Program::Source::kOther, std::move(tell));
  });
  operation.reset();
}

SimConnection::SimConnection(LinkEnd end, Program& program)
    : state_(std::make_shared<State>(std::move(end), program)),
      local_(state_->end->local()),
      remote_(state_->end->remote()) {
  state_->end->set_notify([state = state_.get()] { state->progress(); });
}

SimConnection::~SimConnection() {
  state_->alive = false;
  close();
}

void SimConnection::async_read_some(MutableBytes into, TransferHandler handler) {
  state_->start_read({into, 1, 0, std::move(handler)});
}

void SimConnection::async_read(MutableBytes into, TransferHandler handler) {
  state_->start_read({into, into.size(), 0, std::move(handler)});
}

void SimConnection::async_write(ConstBytes from, TransferHandler handler) {
  state_->start_write({from, 0, std::move(handler)});
}

void SimConnection::cancel() { state_->end_operations(system_error(ECANCELED)); }

void SimConnection::close() {
  cancel();
  state_->end.reset();
}

std::unique_ptr<Stream> SimConnection::hand_over(ConstBytes already_read,
                                                 const MpaTerms& /*negotiated*/) {
  if (!state_->end) return nullptr;
  assert(!state_->read && !state_->write);
  state_->end->set_notify(nullptr);
  auto stream = std::make_unique<SimStream>(std::move(*state_->end), already_read);
  state_->end.reset();
  return stream;
}

}  // namespace iwarp::tcp_offload::sim
