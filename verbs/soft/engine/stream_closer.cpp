#include "soft/engine/stream_closer.hpp"

#include <array>
#include <utility>

#include "soft/startup/error.hpp"

namespace iwarp::verbs::soft {
namespace {

using tcp_offload::IoStatus;

// Reads in one turn, so that a peer that sends without pause does not hold the thread.
constexpr int kReadsPerTurn = 16;

}  // namespace

StreamCloser::StreamCloser(ClosingStream closing, Time now)
    : closing_(std::move(closing)), moved_(now) {}

StreamCloser::State StreamCloser::turn(Time now) {
  if (state_ == State::kOver) return state_;
  const std::size_t sent_before = sent_;
  send_rest();
  drop_input();
  if (sent_ != sent_before) moved_ = now;
  if (state_ != State::kOver) judge(now);
  return state_;
}

// While there is no memory to send with the socket would call at once, again and again.
tcp_offload::Interest StreamCloser::interest() const {
  return {!input_ended_, unsent() != 0 && !awaits_memory_};
}

void StreamCloser::send_rest() {
  tcp_offload::Stream& stream = *closing_.stream;
  while (unsent() != 0) {
    const iovec rest{closing_.unsent.data() + sent_, unsent()};
    const auto sent = stream.send({&rest, 1});
    sent_ += sent.accepted;
    awaits_memory_ = sent.status == IoStatus::kNoMemory;
    if (sent.status == IoStatus::kWouldBlock || awaits_memory_) return;
    if (sent.status != IoStatus::kOk) return fail("connection lost: " + sent.error.message());
  }
  stream.shutdown_send();
}

void StreamCloser::drop_input() {
  std::array<std::byte, 16384> dropped;
  for (int turn = 0; turn < kReadsPerTurn && !input_ended_; ++turn) {
    const auto got = closing_.stream->receive(dropped);
    if (got.status == IoStatus::kWouldBlock) return;
    if (got.status == IoStatus::kBadFpdu) continue;  // and is dropped by the device
    input_ended_ = got.status != IoStatus::kOk;
    if (!input_ended_) closing_.stream->consume(got.data.size());
  }
}

void StreamCloser::judge(Time now) {
  const auto delivery = closing_.stream->delivery();
  if (delivery.unacknowledged != unacknowledged_) moved_ = now;
  unacknowledged_ = delivery.unacknowledged;
  const bool delivered = unsent() == 0 && unacknowledged_ == 0;
  if (delivered) state_ = State::kAwaitsFin;
  if (!delivered && delivery.lost) return fail("connection lost: " + delivery.lost.message());
  if (delivered && (input_ended_ || delivery.lost)) state_ = State::kOver;
  if (waited(now) >= closing_.linger) give_up();
}

// What TCP has taken is left to the system, which goes on trying after the socket has been closed.
// The peer must not take a FIN inside an FPDU for an end, so that a cut one ends by a reset.
void StreamCloser::give_up() {
  if (state_ == State::kAwaitsFin) {
    state_ = State::kOver;
    return;
  }
  if (unsent() != 0) closing_.stream->abort();
  fail("nothing has moved for " + to_text(closing_.linger));
}

void StreamCloser::fail(const std::string& why) {
  state_ = State::kOver;
  const std::string owner =
      closing_.qp_number == 0 ? "a connection" : "queue pair " + std::to_string(closing_.qp_number);
  failure_ = owner + ", " + to_text(closing_.stream->local()) + " to " +
             to_text(closing_.stream->remote()) + ": at its end the peer had not acknowledged " +
             std::to_string(unsent() + unacknowledged_) +
             " octets, and they may not arrive: " + why;
}

}  // namespace iwarp::verbs::soft
