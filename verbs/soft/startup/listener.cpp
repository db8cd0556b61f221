#include "soft/startup/listener.hpp"

#include <algorithm>
#include <utility>

#include "soft/startup/incoming.hpp"

namespace iwarp::verbs::soft {
namespace {

/// How long accepting rests after an error, whatever the device does about it.
constexpr std::chrono::milliseconds kErrorPause{50};

}  // namespace

ListenerCore::ListenerCore(std::shared_ptr<tcp_offload::Device> device,
                           std::unique_ptr<tcp_offload::Acceptor> acceptor,
                           const provider::ListenOptions& options,
                           provider::IncomingHandler handler, AsResponder as_responder)
    : device_(std::move(device)),
      options_(options),
      handler_(std::move(handler)),
      as_responder_(std::move(as_responder)),
      acceptor_(std::move(acceptor)),
      pause_(device_->make_timer()) {}

void ListenerCore::start() {
  executor_ = std::this_thread::get_id();
  if (!taken_.exchange(true)) accept_next();
}

void ListenerCore::close() {
  acceptor_.reset();
  pause_.reset();
  half_open_.clear();
  device_.reset();
}

void ListenerCore::accept_next() {
  const bool room = half_open_.size() < std::max<std::size_t>(options_.max_half_open, 1);
  if (acceptor_ == nullptr || accepting_ == Accepting::kPending || !room) return;
  accepting_ = Accepting::kPending;
  acceptor_->async_accept(
      [this](std::error_code error, std::unique_ptr<tcp_offload::Connection> connection) {
        on_accept(error, std::move(connection));
      });
}

void ListenerCore::on_accept(std::error_code error,
                             std::unique_ptr<tcp_offload::Connection> connection) {
  if (error) {
    return pause_->async_wait(kErrorPause, [this](std::error_code cancelled) {
      if (cancelled) return;
      accepting_ = Accepting::kIdle;
      accept_next();
    });
  }
  accepting_ = Accepting::kIdle;
  const auto session = std::make_shared<ResponderSession>(*device_, std::move(connection), *this);
  half_open_.emplace(session.get(), session);
  session->start(options_.request_timeout);
  accept_next();
}

void ListenerCore::on_request(ResponderSession& session) {
  const auto self = shared_from_this();  // the handler may destroy the listener
  auto incoming = make_incoming(device_, forget(session), as_responder_);
  accept_next();
  // Without a handler it is rejected.
  if (gate_.enter()) {
    handler_(std::move(incoming));
    gate_.leave();
  }
}

void ListenerCore::on_no_request(ResponderSession& session) {
  const auto self = shared_from_this();  // the handler may destroy the listener
  const auto over = forget(session);
  if (options_.on_no_request && gate_.enter()) {
    options_.on_no_request(session.failure());
    gate_.leave();
  }
  accept_next();
}

std::shared_ptr<ResponderSession> ListenerCore::forget(ResponderSession& session) {
  auto node = half_open_.extract(&session);
  return std::move(node.mapped());
}

}  // namespace iwarp::verbs::soft
