#include <thread>

#include "agent/session.hpp"

/// From a listener, or an address, to a connection and its end.
namespace iwarp::agent {
namespace {

using verbs::ConnectionEvent;

constexpr std::chrono::milliseconds kPortPatience{2000};
constexpr std::chrono::milliseconds kPortRetry{5};

// The pairs that choose the start-up; what is not said stays as it is.
void read_mpa(const Command& command, verbs::ConnectOptions& options) {
  if (command.has("revision")) {
    options.mpa_revision = static_cast<std::uint8_t>(command.number("revision", UINT8_MAX));
  }
  if (command.has("crc")) options.require_crc = command.flag("crc");
  if (command.has("markers")) options.want_markers = command.flag("markers");
  if (command.has("p2p")) options.peer_to_peer = command.flag("p2p");
}

void read_depths(const Command& command, verbs::ConnectOptions& options) {
  if (command.has("ird"))
    options.ird = static_cast<std::uint16_t>(command.number("ird", UINT16_MAX));
  if (command.has("ord"))
    options.ord = static_cast<std::uint16_t>(command.number("ord", UINT16_MAX));
}

void read_private_data(const Command& command, verbs::ConnectOptions& options) {
  if (command.has("private")) options.private_data = command.octets("private");
}

agent_protocol::Event name_of(ConnectionEvent::Kind kind) {
  switch (kind) {
    case ConnectionEvent::Kind::kEstablished: return "established";
    case ConnectionEvent::Kind::kRejected: return "rejected";
    case ConnectionEvent::Kind::kFailed: return "failed";
    case ConnectionEvent::Kind::kDisconnected: return "disconnected";
  }
  return "failed";
}

// A listener that was closed a moment ago may hold its port a little longer.
verbs::Listener listen_at(verbs::Device& device, const verbs::Endpoint& at) {
  const auto deadline = std::chrono::steady_clock::now() + kPortPatience;
  for (;;) {
    auto listener = device.listen(at);
    const bool busy = !listener && listener.error().code == std::errc::address_in_use;
    if (at.port() == 0 || !busy || std::chrono::steady_clock::now() > deadline) {
      return require(std::move(listener));
    }
    std::this_thread::sleep_for(kPortRetry);
  }
}

}  // namespace

Reply Session::listen(const Command& command) {
  verbs::ConnectOptions accepting;
  read_depths(command, accepting);
  read_mpa(command, accepting);
  listener_.reset();
  listener_.emplace(listen_at(device_, {options_.address, options_.port}));
  accepting_ = accepting;
  return Reply().number("port", listener_->endpoint().port());
}

std::uint64_t Session::add_endpoint(std::unique_ptr<Endpoint> endpoint) {
  endpoints_.emplace(next_id_, std::move(endpoint));
  return next_id_++;
}

Reply Session::await(const Command& command) {
  const auto longest = command.wait();
  if (!listener_) throw invalid("nothing listens");
  auto request = wait_in_slices(longest, options_.attend, [this](std::chrono::milliseconds slice) {
    return listener_->next(slice);
  });
  if (!request) throw refused(std::errc::timed_out, "no connection request came");
  auto endpoint = std::make_unique<Endpoint>(device_, pd_);
  endpoint->incoming.emplace(std::move(*request));
  const verbs::ConnectionInfo& info = endpoint->incoming->info();
  return Reply()
      .number("endpoint", add_endpoint(std::move(endpoint)))
      .octets("private", info.private_data)
      .number("ird", info.peer_ird.value_or(0))
      .number("ord", info.peer_ord.value_or(0));
}

Reply Session::accept(const Command& command) {
  Endpoint& endpoint = endpoint_of(command);
  if (!endpoint.incoming) throw invalid("the endpoint has no connection request");
  verbs::ConnectOptions options = accepting_;
  read_private_data(command, options);
  read_depths(command, options);
  require(endpoint.incoming->start_accept(endpoint.qp(), options));
  endpoint.incoming.reset();
  endpoint.begin();
  return {};
}

Reply Session::reject(const Command& command) {
  Endpoint& endpoint = endpoint_of(command);
  if (!endpoint.incoming) throw invalid("the endpoint has no connection request");
  verbs::ConnectOptions options;
  read_private_data(command, options);
  require(endpoint.incoming->reject(options.private_data));
  endpoint.incoming.reset();
  return {};
}

Reply Session::dial(const Command& command) {
  const auto address = verbs::Address::parse(command.text("address"));
  if (!address) throw invalid(address.error().message);
  auto endpoint = std::make_unique<Endpoint>(device_, pd_);
  endpoint->peer.emplace(*address, static_cast<std::uint16_t>(command.number("port", UINT16_MAX)));
  read_mpa(command, endpoint->options);
  return Reply().number("endpoint", add_endpoint(std::move(endpoint)));
}

Reply Session::connect(const Command& command) {
  Endpoint& endpoint = endpoint_of(command);
  if (!endpoint.peer) throw invalid("the endpoint has no address to connect to");
  verbs::ConnectOptions options = endpoint.options;
  read_private_data(command, options);
  read_depths(command, options);
  require(endpoint.qp().start_connect(*endpoint.peer, options));
  endpoint.peer.reset();
  endpoint.begin();
  return {};
}

Reply Session::event(const Command& command) {
  Endpoint& endpoint = endpoint_of(command);
  const auto event =
      wait_in_slices(command.wait(), options_.attend,
                     [&](std::chrono::milliseconds slice) { return endpoint.event(slice); });
  if (!event) return Reply().text("event", agent_protocol::kNone);
  Reply reply;
  reply.text("event", name_of(event->kind));
  const verbs::ConnectionInfo& info = event->info;
  if (event->kind == ConnectionEvent::Kind::kEstablished) {
    reply.octets("private", info.private_data).number("ird", info.ird).number("ord", info.ord);
  } else if (event->kind == ConnectionEvent::Kind::kRejected) {
    reply.octets("private", info.private_data)
        .number("ird", info.peer_ird.value_or(0))
        .number("ord", info.peer_ord.value_or(0));
  }
  return reply;
}

Reply Session::disconnect(const Command& command) {
  endpoint_of(command).qp().disconnect();
  return {};
}

Reply Session::close(const Command& command) {
  endpoint_of(command);
  endpoints_.erase(command.number("endpoint"));
  return {};
}

}  // namespace iwarp::agent
