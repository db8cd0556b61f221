#include "file_service/server/server.hpp"

#include <malloc.h>

#include "address.hpp"
#include "context.hpp"
#include "file_service/server/stranger_log.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "start_up/rejection.hpp"

namespace iwarp::cli::file_service {
namespace {

using process::LogLevel;

verbs::ConnectOptions with_welcome(verbs::ConnectOptions options) {
  const auto welcome = Welcome{.credits = kCredits, .max_chunk = kMaxChunk}.encode();
  options.private_data.assign(welcome.begin(), welcome.end());
  return options;
}

}  // namespace

Server::Server(verbs::Device device, Store store, const verbs::Endpoint& at, ServerOptions options)
    : device_(std::move(device)),
      store_(std::move(store)),
      options_(std::move(options)),
      budget_(options_.buffers, options_.long_in_line),
      slots_(options_.max_clients),
      listener_(listen(at)),
      finished_(options_.max_clients + kMostLeaving) {
  options_.start_up = with_welcome(std::move(options_.start_up));
}

verbs::Listener Server::listen(const verbs::Endpoint& at) {
  verbs::ListenOptions options;
  options.request_timeout = options_.request_timeout;
  options.admits = [this](const verbs::Endpoint& peer) {
    return !bad_ends_.shuts_out(peer.address(), BadEnds::Clock::now());
  };
  return require(device_.listen(at, options));
}

Server::~Server() {
  log_info("ending with {} clients", clients_.size());
  turn_away();
  listener_.reset();
  for (auto& [number, client] : clients_) client.session->stop();
}

void Server::run() {
  while (!InterruptGuard::interrupted()) {
    try {
      take_turn();
    } catch (const std::exception& error) {
      // No memory, as it seems, and the next turn may find some.
      log_of_strangers(Told::kNoMeans, LogLevel::kWarn, [&] {
        return fmt::format("no client is let in for now: {}", cli::describe(error));
      });
      std::this_thread::sleep_for(kInterruptSlice);
    }
  }
}

void Server::take_turn() {
  auto request = listener_->next(kInterruptSlice);
  forget_finished();
  give_memory_back();
  find_buffers();
  if (request) consider(*std::move(request));
}

void Server::reject(verbs::ConnectionRequest& request, Status status,
                    const std::string& reason) const {
  log_of_strangers(Told::kRefusal, LogLevel::kInfo, [&] {
    return fmt::format("{}: rejected: {}", to_string(request.info().remote), reason);
  });
  const Rejection rejection{Service::kFiles, kVersion, static_cast<std::uint8_t>(status), reason};
  // If it fails the peer has gone already.
  (void)request.reject(rejection.encode(device_.attributes().max_private_data));
}

void Server::turn_away() noexcept {
  try {
    while (auto request = listener_->next(std::chrono::milliseconds(0))) {
      reject(*request, Status::kEnded, describe(Status::kEnded));
    }
  } catch (const std::exception&) {
    // Without memory for the reason: they learn of the end from their connections.
  }
}

void Server::consider(verbs::ConnectionRequest request) {
  const auto hello = Hello::parse(request.private_data());
  if (!hello) {
    return reject(request, Status::kBadRequest,
                  fmt::format("the request is not one of 'iwarp put', 'get' or 'ls' ({})",
                              describe(hello.error())));
  }
  if (hello->version != kVersion) {
    return reject(request, Status::kBadVersion,
                  fmt::format("the client speaks version {} of the file protocol, and the server "
                              "version {}",
                              hello->version, kVersion));
  }
  const auto peer = request.info().remote.address();
  try {
    if (bad_ends_.holds_back(peer, BadEnds::Clock::now())) {
      return reject(request, Status::kBusy,
                    "this network has to wait for a while: many clients go without having got "
                    "anything, as its latest one did");
    }
    const auto number = admit(peer);
    if (!number) {
      return reject(
          request, Status::kBusy,
          fmt::format("the server has as many clients as it takes ({})", options_.max_clients));
    }
    start(request, *number);
  } catch (const std::exception& error) {
    // No room for another connection or thread.
    log_of_strangers(Told::kNoMeans, LogLevel::kWarn, [&] {
      return fmt::format("cannot serve another client: {}", cli::describe(error));
    });
    reject(request, Status::kBusy,
           fmt::format("the server has no room for another client: {}", cli::describe(error)));
  }
}

std::optional<Slots::Number> Server::admit(const verbs::Address& peer) {
  if (clients_.size() >= options_.max_clients + kMostLeaving) return std::nullopt;
  const Slots::Admission admission = slots_.admit(peer, Slots::Clock::now());
  give_up(admission.makes_room);
  return admission.client;
}

void Server::start(verbs::ConnectionRequest& request, Slots::Number number) {
  const auto note_use = [this, number](SlotUse use) { slots_.note(number, use); };
  try {
    Client& client = clients_[number];
    client.peer = request.info().remote;
    client.session = std::make_unique<Session>(device_, store_, budget_, standing_of(client.peer),
                                               options_.timeouts, options_.max_fpdu, note_use);
    client.request.emplace(std::move(request));
    client.thread = std::jthread([this, &client, number] {
      client.session->run(*std::exchange(client.request, std::nullopt), options_.start_up);
      slots_.leave(number);
      finished_.add(number);
    });
  } catch (...) {
    const auto client = clients_.find(number);
    if (client != clients_.end()) {
      if (client->second.request) request = *std::move(client->second.request);
      clients_.erase(client);
    }
    slots_.leave(number);
    throw;
  }
}

Standing Server::standing_of(const verbs::Endpoint& peer) {
  const bool known = bad_ends_.knows(peer.address(), BadEnds::Clock::now());
  return known ? Standing::kKnown : Standing::kStranger;
}

bool Server::give_up(std::optional<Slots::Number> number) {
  if (!number) return false;
  const Client& client = clients_.at(*number);
  client.session->give_up();
  log_of_strangers(Told::kRoomMade, LogLevel::kInfo, [&] {
    return fmt::format("{}: makes room for another client", to_string(client.peer));
  });
  return true;
}

void Server::find_buffers() {
  budget_.lend_beyond(BufferBudget::Clock::now());
  const BufferBudget::Lack lack = budget_.lack();
  if (lack.overdrawn) give_up(slots_.gives_buffers_back(false));
  for (std::size_t i = 0; i < lack.in_line && give_up(slots_.gives_buffers_back(true)); ++i) {
  }
}

void Server::forget_finished() {
  most_clients_ = std::max(most_clients_, clients_.size());
  for (const Slots::Number number : finished_.take()) {
    const auto client = clients_.find(number);
    note_end(client->second);
    clients_.erase(client);
  }
}

void Server::note_end(const Client& client) {
  const auto peer = client.peer.address();
  const auto now = BadEnds::Clock::now();
  try {
    if (client.session->has_served()) return bad_ends_.note_good(peer, now);
    bad_ends_.note_bad(peer, now);
  } catch (const std::bad_alloc&) {
    // Nothing is known of it then.
  }
}

void Server::give_memory_back() {
  constexpr std::size_t kCrowd = 32;
  if (most_clients_ < kCrowd || clients_.size() > most_clients_ / 2) return;
  ::malloc_trim(0);
  most_clients_ = clients_.size();
}

}  // namespace iwarp::cli::file_service
