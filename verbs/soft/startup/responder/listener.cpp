#include "soft/startup/responder/listener.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/process/log.hpp"
#include "iwarp/provider/failure.hpp"
#include "soft/startup/responder/incoming.hpp"

namespace iwarp::verbs::soft {
namespace {

/// How long accepting rests after an error, whatever the device does about it.
constexpr std::chrono::milliseconds kErrorPause{50};

bool ran_out(std::error_code error) {
  return error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system || error == std::errc::no_buffer_space ||
         error == std::errc::not_enough_memory;
}

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
  give_up();
  acceptor_.reset();
  pause_.reset();
  half_open_.clear();
  shares_ = {};
  device_.reset();
}

void ListenerCore::accept_next() {
  if (acceptor_ == nullptr || accepting_ == Accepting::kPending) return;
  accepting_ = Accepting::kPending;
  try {
    wait_for_another();
  } catch (const std::exception&) {
    starve();
  }
}

void ListenerCore::wait_for_another() {
  acceptor_->async_accept(
      [this](std::error_code error, std::unique_ptr<tcp_offload::Connection> connection) {
        on_accept(error, std::move(connection));
      });
}

void ListenerCore::try_again() {
  accepting_ = Accepting::kIdle;
  accept_next();
}

void ListenerCore::on_accept(std::error_code error,
                             std::unique_ptr<tcp_offload::Connection> connection) {
  const auto self = shared_from_this();  // a handler that is told of one that goes may destroy this
  try {
    if (!error) begin(std::move(connection));
  } catch (const std::exception& thrown) {
    error = code_of(thrown);
  }
  if (acceptor_ == nullptr) return;
  if (error) return rest_after(error);
  rests_ = false;
  accepting_ = Accepting::kIdle;
  accept_next();
}

void ListenerCore::begin(std::unique_ptr<tcp_offload::Connection> connection) {
  if (!admits(connection->remote())) return;
  const Address peer = connection->remote().address();
  make_room_for(peer);
  if (acceptor_ == nullptr) return;
  const auto session =
      std::make_shared<ResponderSession>(*device_, std::move(connection), *this, options_.liveness);
  try {
    half_open_.emplace(session.get(), session);
    shares_.add(session.get(), peer);
    session->start(options_.request_timeout);
  } catch (const std::exception&) {
    forget(*session);
    throw;
  }
}

bool ListenerCore::admits(const Endpoint& peer) {
  if (!options_.admits) return true;
  bool admitted = false;
  call_program([&] { gate_.pass([&] { admitted = options_.admits(peer); }); });
  return admitted && acceptor_ != nullptr;
}

// What has run out may be what the half-open ones hold. The log is told once, and last: there may
// be no memory for a line.
void ListenerCore::rest_after(std::error_code error) {
  try {
    if (ran_out(error)) gives_up(shares_.makes_room());
    if (acceptor_ == nullptr) return;
    pause_->async_wait(kErrorPause, [this](std::error_code cancelled) {
      if (!cancelled) try_again();
    });
  } catch (const std::exception&) {
    if (acceptor_ == nullptr) return;
    starve();
  }
  if (std::exchange(rests_, true)) return;
  process::log(process::LogLevel::kWarn,
               "connections are accepted as far as the system permits: " + error.message());
}

void ListenerCore::make_room_for(const Address& peer) {
  const std::size_t most = std::max<std::size_t>(options_.max_half_open, 1);
  const std::size_t of_one = std::clamp<std::size_t>(options_.max_half_open_per_address, 1, most);
  while (shares_.of_peer(peer) >= of_one && gives_up(shares_.oldest_of(peer))) {
  }
  while (shares_.size() >= most && gives_up(shares_.makes_room())) {
  }
}

bool ListenerCore::gives_up(std::optional<ResponderSession*> session) {
  if (session) (*session)->make_room();
  return session.has_value();
}

void ListenerCore::on_request(ResponderSession& session) {
  const auto self = shared_from_this();  // the handler may destroy the listener
  auto incoming = make_incoming(device_, forget(session), as_responder_);
  accept_next();
  // Without a handler it is rejected.
  call_program([&] { gate_.pass([&] { handler_(std::move(incoming)); }); });
}

void ListenerCore::on_no_request(ResponderSession& session) {
  const auto self = shared_from_this();  // the handler may destroy the listener
  const auto over = forget(session);
  accept_next();
  // A stranger's failure is no news to a program; the log at level debug has it, for the search for
  // a cause.
  if (process::logs(process::LogLevel::kDebug)) {
    process::log(process::LogLevel::kDebug, session.failure().message);
  }
  if (!options_.on_no_request) return;
  call_program([&] { gate_.pass([&] { options_.on_no_request(session.failure()); }); });
}

std::shared_ptr<ResponderSession> ListenerCore::forget(ResponderSession& session) {
  shares_.remove(&session);
  auto node = half_open_.extract(&session);
  return node ? std::move(node.mapped()) : nullptr;
}

}  // namespace iwarp::verbs::soft
