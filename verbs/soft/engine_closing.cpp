#include <array>
#include <utility>

#include "soft/engine.hpp"

/// Streams on their way out: what their queue pairs have left behind.
namespace iwarp::verbs::soft {
namespace {

using namespace std::chrono_literals;

// How long a closing stream has to send its rest and to see the peer's FIN.
constexpr auto kSeeOff = 5s;

}  // namespace

void Engine::see_off(ClosingStream closing) {
  start();
  {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(std::move(closing));
  }
  wake_.raise();
}

void Engine::take_in_closing() {
  std::vector<ClosingStream> arriving;
  {
    const std::lock_guard lock(mutex_);
    arriving.swap(arriving_);
  }
  for (ClosingStream& stream : arriving) {
    const Token token = next_closing_;
    next_closing_ += 2;
    const int descriptor = stream.stream->descriptor();
    closing_.emplace(token, Closing{std::move(stream), 0, false, Clock::now() + kSeeOff});
    sockets_.add(descriptor, token, {});
    serve_closing(token);
  }
}

// Sends the rest, then FIN; reads and drops what still comes.
void Engine::step(Closing& closing, bool& done) {
  using tcp_offload::IoStatus;
  tcp_offload::Stream& stream = *closing.stream.stream;
  while (closing.sent < closing.stream.unsent.size()) {
    const iovec rest{closing.stream.unsent.data() + closing.sent,
                     closing.stream.unsent.size() - closing.sent};
    const auto sent = stream.send({&rest, 1});
    closing.sent += sent.accepted;
    if (sent.status == IoStatus::kWouldBlock) break;
    if (sent.status != IoStatus::kOk) {
      done = true;
      return;
    }
  }
  if (closing.sent == closing.stream.unsent.size() && !closing.finished_sending) {
    closing.finished_sending = true;
    stream.shutdown_send();
  }
  std::array<std::byte, 16384> dropped;
  for (int turn = 0; turn < 16; ++turn) {
    const auto got = stream.receive(dropped);
    if (got.status == IoStatus::kWouldBlock) return;
    if (got.status != IoStatus::kOk) {
      done = got.status == IoStatus::kLost || closing.finished_sending;
      return;
    }
    stream.consume(got.data.size());
  }
}

void Engine::serve_closing(Token token) {
  const auto at = closing_.find(token);
  if (at == closing_.end()) return;
  Closing& closing = at->second;
  bool done = false;
  step(closing, done);
  const int descriptor = closing.stream.stream->descriptor();
  if (done) {
    sockets_.remove(descriptor);
    closing_.erase(at);
  } else {
    sockets_.modify(descriptor, token, {true, !closing.finished_sending});
  }
}

void Engine::expire_closing() {
  const auto now = Clock::now();
  for (auto at = closing_.begin(); at != closing_.end();) {
    if (now < at->second.deadline) {
      ++at;
      continue;
    }
    at->second.stream.stream->abort();
    sockets_.remove(at->second.stream.stream->descriptor());
    at = closing_.erase(at);
  }
}

}  // namespace iwarp::verbs::soft
