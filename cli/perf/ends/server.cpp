#include "perf/ends/server.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <exception>
#include <thread>

#include "context.hpp"
#include "interrupt.hpp"
#include "perf/ends/session.hpp"
#include "utf8.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::chrono::milliseconds kLook{200};  // between looks at signals

void serve(Session& session) {
  try {
    session.run();
    spdlog::info("perf: served {}", session.describe());
  } catch (const std::exception& error) {
    spdlog::warn("perf: {}: {}", session.describe(), printable(cli::describe(error)));
  }
}

}  // namespace

/// One session and its thread.
class Server::Worker {
 public:
  Worker(verbs::Device& device, verbs::ConnectionRequest request, const Greeting& greeting,
         std::uint32_t max_fpdu)
      : session_(std::in_place, device, std::move(request), greeting, max_fpdu), thread_([this] {
          serve(*session_);
          session_.reset();
          done_ = true;
        }) {}

  [[nodiscard]] bool done() const { return done_; }

 private:
  std::optional<Session> session_;
  std::atomic<bool> done_ = false;
  std::jthread thread_;
};

Server::Server(verbs::Device& device, const verbs::Endpoint& at, std::uint32_t max_fpdu)
    : device_(device), listener_(require(device.listen(at), "perf")), max_fpdu_(max_fpdu) {}

Server::~Server() = default;

void Server::run() {
  while (!InterruptGuard::interrupted()) {
    auto request = listener_.next(kLook);
    workers_.remove_if([](const Worker& worker) { return worker.done(); });
    if (request) admit(std::move(*request));
  }
  workers_.clear();
}

void Server::admit(verbs::ConnectionRequest request) {
  const auto greeting = Greeting::parse(request.private_data());
  if (!greeting) {
    spdlog::warn("perf: rejected a connection that is not from iwarp perf");
    return;  // rejected with the request's end
  }
  if (workers_.size() >= kMaxClients) {
    spdlog::warn("perf: rejected a client: {} are being served", workers_.size());
    return;
  }
  try {
    workers_.emplace_back(device_, std::move(request), *greeting, max_fpdu_);
  } catch (const std::exception& error) {
    spdlog::warn("perf: cannot serve a client: {}", cli::describe(error));
  }
}

}  // namespace iwarp::cli::perf
