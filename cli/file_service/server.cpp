#include "file_service/server.hpp"

#include <spdlog/spdlog.h>

#include "address.hpp"
#include "context.hpp"
#include "file_service/slots.hpp"
#include "interrupt.hpp"

namespace iwarp::cli::file_service {
namespace {

void reject(verbs::ConnectionRequest& request, Status status) {
  spdlog::info("{}: rejected: {}", to_string(request.info().remote), describe(status));
  // If it fails the peer has gone already.
  (void)request.reject(Welcome{.status = status}.encode());
}

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
      listener_(require(device_.listen(at), "cannot listen on " + to_string(at))) {
  options_.start_up = with_welcome(std::move(options_.start_up));
}

Server::~Server() {
  spdlog::info("ending with {} clients", clients_.size());
  while (auto request = listener_->next(std::chrono::milliseconds(0))) {
    reject(*request, Status::kEnded);
  }
  listener_.reset();
  for (Client& client : clients_) client.session->stop();
}

void Server::run() {
  while (!InterruptGuard::interrupted()) {
    auto request = listener_->next(kInterruptSlice);
    forget_finished();
    if (request) admit(*std::move(request));
  }
}

void Server::admit(verbs::ConnectionRequest request) {
  const auto hello = Hello::parse(request.private_data());
  if (!hello) return reject(request, Status::kBadRequest);
  if (hello->version != kVersion) return reject(request, Status::kBadVersion);
  if (!has_room_for(request.info().remote.address())) return reject(request, Status::kBusy);
  start(std::move(request));
}

bool Server::has_room_for(const boost::asio::ip::address& newcomer) {
  const auto given_up = [](const Client& client) { return client.given_up; };
  const auto leaving = static_cast<std::size_t>(std::ranges::count_if(clients_, given_up));
  if (clients_.size() - leaving < options_.max_clients) return true;
  if (leaving >= kMostLeaving) return false;
  std::vector<Client*> serving;
  std::vector<Slot> slots;
  for (Client& client : clients_) {
    if (client.given_up) continue;
    serving.push_back(&client);
    slots.push_back({client.peer, client.session->spare_since()});
  }
  const auto chosen = makes_room(slots, newcomer);
  if (!chosen) return false;
  Client& client = *serving[*chosen];
  spdlog::info("{}: makes room for another client", client.peer.to_string());
  client.given_up = true;
  client.session->give_up();
  return true;
}

void Server::start(verbs::ConnectionRequest request) {
  clients_.emplace_back();
  Client& client = clients_.back();
  client.peer = request.info().remote.address();
  try {
    client.session = std::make_unique<Session>(device_, store_, budget_, options_.timeouts);
    client.thread = std::jthread([this, &client, taken = std::move(request)]() mutable {
      client.session->run(std::move(taken), options_.start_up);
      client.done = true;
    });
  } catch (const std::exception& error) {
    // No room for another connection or thread. The unanswered request is rejected.
    spdlog::error("cannot serve another client: {}", cli::describe(error));
    clients_.pop_back();
  }
}

void Server::forget_finished() {
  clients_.remove_if([](const Client& client) { return client.done.load(); });
}

}  // namespace iwarp::cli::file_service
