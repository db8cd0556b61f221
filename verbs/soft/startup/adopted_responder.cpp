#include "soft/startup/adopted_responder.hpp"

#include <utility>

#include "soft/failure.hpp"
#include "soft/startup/incoming.hpp"

namespace iwarp::verbs::soft {

AdoptedResponder::AdoptedResponder(std::shared_ptr<tcp_offload::Device> device,
                                   StreamingConnection streaming, provider::AwaitOptions options,
                                   provider::AwaitHandler handler, AsResponder as_responder)
    : device_(std::move(device)),
      streaming_(std::move(streaming)),
      options_(std::move(options)),
      handler_(std::move(handler)),
      as_responder_(std::move(as_responder)) {}

void AdoptedResponder::start() {
  if (phase_.load() != Phase::kRunning) return;
  session_ = std::make_shared<ResponderSession>(*device_, std::move(streaming_.connection), *this);
  const auto session = session_;  // the Request may be there already
  session->start(options_.timeout,
                 {std::move(options_.last_message), std::move(streaming_.already_read)});
}

bool AdoptedResponder::cancel() {
  Phase running = Phase::kRunning;
  return phase_.compare_exchange_strong(running, Phase::kCancelled);
}

void AdoptedResponder::release() {
  streaming_ = {};
  session_.reset();
  handler_ = nullptr;
}

void AdoptedResponder::on_request(ResponderSession&) {
  finish(make_incoming(device_, std::move(session_), as_responder_));
}

void AdoptedResponder::on_no_request(ResponderSession& session) {
  finish(failure(session.failure()));
}

void AdoptedResponder::finish(Outcome<std::unique_ptr<provider::IncomingConnection>> result) {
  const auto self = shared_from_this();
  const auto handler = std::move(handler_);
  release();  // before the phase changes: from then on this may be destroyed on any thread
  Phase running = Phase::kRunning;
  if (!phase_.compare_exchange_strong(running, Phase::kReported)) return;
  call_program([&] { handler(std::move(result)); });
}

}  // namespace iwarp::verbs::soft
