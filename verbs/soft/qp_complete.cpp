#include "soft/qp_link.hpp"

/// Requests of the send queue at their end: completed in their order, or flushed.
namespace iwarp::verbs::soft {

// Completes what is done, oldest first (RFC 5040 §5.5 rule 15).
void SoftQp::retire() {
  Link& link = *link_.load();
  const std::uint64_t released = link.stream.released();
  link.outbound().released(released);
  while (!failing_ && link.outbound().head_done(released)) complete_head(Status::kSuccess);
}

void SoftQp::complete_head(Status status) {
  const rdmap::Request& request = send_queue_.at(send_queue_.head());
  Completion completion;
  completion.wr_id = request.cookie;
  completion.qp_number = number();
  completion.status = status;
  completion.opcode = completion_opcode(send_queue_.head());
  completion.byte_length = request.length;
  const bool report = request.report || status != Status::kSuccess;
  if (status == Status::kSuccess) count(request.operation);
  failing_ = failing_ || status != Status::kSuccess;
  send_queue_.retire();
  if (!report) return send_places_.give_back();
  if (!init_.send_cq->push(completion, send_places_)) lost("the send completion queue overran");
}

// And the program has not given the connection up before it could hear of it.
bool SoftQp::peer_has_gone() const {
  const connection::Life now = life();
  return now.input == connection::Input::kPeerGone && now.program != connection::Program::kGone;
}

void SoftQp::flush_requests() {
  while (send_queue_.head() != send_queue_.tail()) {
    const std::uint32_t position = send_queue_.head();
    const rdmap::Request& request = send_queue_.at(position);
    const bool nobody = link_.load() == nullptr || peer_has_gone();
    const bool unreached = init_.connectionless && nobody && !failing_;
    Status status = unreached ? Status::kUnreachable : Status::kFlushed;
    if (bad_request_ && bad_request_->position == position) status = bad_request_->status;
    if (rdmap::awaits_response(request.operation) && issued(position)) {
      // Its memory is the program's again only when no response is placed any more.
      if (life().input == connection::Input::kOpen) return;
      if (const auto blamed = blamed_read_.status_of(request.read_index)) status = *blamed;
    }
    complete_head(status);
  }
  flush_late_posts();
}

// What was posted behind disconnect() is behind everything else.
void SoftQp::flush_late_posts() {
  std::vector<Completion> late;
  {
    const std::lock_guard lock(post_send_lock_);
    late.swap(late_posts_);
  }
  for (const Completion& each : late) {
    if (!init_.send_cq->push(each, send_places_)) lost("the send completion queue overran");
  }
}

void SoftQp::count(rdmap::Operation operation) {
  Link& link = *link_.load();
  link.outbound().count(operation);
  link.sent.publish(link.outbound().counters());
}

// Whether the request at `position` has left. What was flushed is ahead of what has left.
bool SoftQp::issued(std::uint32_t position) const {
  const Link* link = link_.load();
  return link != nullptr && link->outbound().has_left(position);
}

}  // namespace iwarp::verbs::soft
