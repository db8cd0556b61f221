#include "soft/startup/responder/adopted_responder.hpp"

#include <utility>

#include "iwarp/provider/failure.hpp"
#include "soft/startup/responder/incoming.hpp"

namespace iwarp::verbs::soft {

AdoptedResponder::AdoptedResponder(std::shared_ptr<tcp_offload::Device> device,
                                   StreamingConnection streaming, provider::AwaitOptions options,
                                   provider::AwaitHandler handler, AsResponder as_responder)
    : Session([handler = std::move(handler)](auto outcome) {
        call_program([&] { handler(std::move(outcome)); });
      }),
      device_(std::move(device)),
      streaming_(std::move(streaming)),
      options_(std::move(options)),
      as_responder_(std::move(as_responder)) {}

void AdoptedResponder::begin() {
  session_ = std::make_shared<ResponderSession>(*device_, std::move(streaming_.connection), *this);
  const auto session = session_;  // the Request may be there already
  session->start(options_.timeout,
                 {std::move(options_.last_message), std::move(streaming_.already_read)});
}

void AdoptedResponder::drop() {
  streaming_ = {};
  session_.reset();
}

void AdoptedResponder::on_request(ResponderSession&) {
  finish(make_incoming(device_, std::move(session_), as_responder_));
}

void AdoptedResponder::on_no_request(ResponderSession& session) {
  finish(failure(session.failure()));
}

}  // namespace iwarp::verbs::soft
