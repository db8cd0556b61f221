#include <algorithm>
#include <array>
#include <vector>

#include "soft/qp/halves/transmit_half.hpp"

/// Requests of the send queue at their end: completed in their order, or flushed.
namespace iwarp::verbs::soft {

// Completes what is done, oldest first (RFC 5040 §5.5 rule 15).
void TransmitHalf::complete_sent(Link& link) {
  const std::uint64_t released = link.stream.released();
  link.outbound().released(released);
  if (failing_) return;
  std::uint32_t done = link.outbound().count_done(released);
  if (done == 0) return;
  link.sent.publish(link.outbound().counters());  // before the program hears of it
  while (done != 0) done -= complete_heads(done);
}

// Completes the oldest `done` requests with success, or as many of them as go at once; returns how
// many.
std::uint32_t TransmitHalf::complete_heads(std::uint32_t done) {
  if (done == 1) {  // most often
    complete_head(Status::kSuccess);
    return done;
  }
  constexpr std::uint32_t kAtOnce = 32;
  std::array<Completion, kAtOnce> completions;
  std::size_t count = 0;
  done = std::min(done, kAtOnce);
  for (std::uint32_t i = 0; i < done; ++i) {
    if (const auto completion = parts_.sends.retire(Status::kSuccess)) {
      completions[count++] = *completion;
    }
  }
  if (count != 0) push(std::span(completions).first(count));
  return done;
}

void TransmitHalf::complete_head(Status status) {
  failing_ = failing_ || status != Status::kSuccess;
  if (const auto completion = parts_.sends.retire(status)) push({&*completion, 1});
}

void TransmitHalf::push(std::span<const Completion> completions) {
  if (parts_.init.send_cq->push(completions, parts_.sends.places())) return;
  parts_.life.lose("the send completion queue overran");
}

// What was posted behind disconnect() is behind everything else.
void TransmitHalf::flush_requests() {
  const rdmap::SendQueue& queue = parts_.sends.queue();
  while (parts_.sends.any()) {
    const std::uint32_t position = queue.head();
    const rdmap::Request& request = queue.at(position);
    Status status = flush_status();
    if (bad_request_ && bad_request_->position == position) status = bad_request_->status;
    if (rdmap::awaits_response(request.operation) && has_left(position)) {
      // Its memory is the program's again only when no response is placed any more.
      if (parts_.life.now().input == connection::Input::kOpen) return;
      if (const auto blamed = parts_.blamed_read.status_of(request.read_index)) status = *blamed;
    }
    complete_head(status);
  }
  const std::vector<Completion> late = parts_.sends.take_late();
  if (!late.empty()) push(late);
  parts_.requests_flushed.store(true);
}

// The peer is unreachable for a program that knows no connection, if the peer has gone and the
// program has not given the connection up before it could hear of it.
Status TransmitHalf::flush_status() const {
  const connection::Life now = parts_.life.now();
  const bool peer_gone =
      now.input == connection::Input::kPeerGone && now.program != connection::Program::kGone;
  const bool unreached = parts_.link.load() == nullptr || peer_gone;
  return parts_.connectionless && unreached && !failing_ ? Status::kUnreachable : Status::kFlushed;
}

// What was flushed is ahead of what has left.
bool TransmitHalf::has_left(std::uint32_t position) const {
  const Link* link = parts_.link.load();
  return link != nullptr && link->outbound().has_left(position);
}

}  // namespace iwarp::verbs::soft
