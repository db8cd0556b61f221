#include "perf/ends/server.hpp"

#include <atomic>
#include <exception>
#include <new>
#include <thread>

#include "address.hpp"
#include "context.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli::perf {
namespace {

constexpr std::chrono::milliseconds kLook{200};  // between looks at signals

void serve(Session& session, verbs::ConnectionRequest request) {
  try {
    session.run(std::move(request));
    log_info("perf: served {}", session.describe());
  } catch (const std::exception& error) {
    log_warning("perf: {}: {}", session.describe(), printable(cli::describe(error)));
  }
}

verbs::ListenOptions listen_options(const SessionOptions& options) {
  verbs::ListenOptions result;
  result.request_timeout = options.patience;
  return result;
}

}  // namespace

/// One session and its thread.
class Server::Worker {
 public:
  /// What it throws leaves the request to the caller.
  Worker(verbs::Device& device, const std::shared_ptr<verbs::ConnectionRequest>& request,
         const Greeting& greeting, const SessionOptions& options)
      : session_(std::in_place, device, request->info().remote, greeting, options),
        thread_([this, request] {
          serve(*session_, std::move(*request));
          session_.reset();
          done_ = true;
        }) {}

  [[nodiscard]] bool done() const { return done_; }

 private:
  std::optional<Session> session_;
  std::atomic<bool> done_ = false;
  std::jthread thread_;
};

Server::Server(verbs::Device& device, const verbs::Endpoint& at, const SessionOptions& options)
    : device_(device),
      listener_(require(device.listen(at, listen_options(options)))),
      options_(options) {}

Server::~Server() = default;

void Server::run() {
  while (!InterruptGuard::interrupted()) {
    auto request = listener_.next(kLook);
    workers_.remove_if([](const Worker& worker) { return worker.done(); });
    if (request) admit_or_drop(std::move(*request));
  }
  turn_away();
  workers_.clear();
}

void Server::turn_away() {
  while (auto request = listener_.next(std::chrono::milliseconds(0))) {
    try {
      reject(*request, {Refused::Reason::kEnded, "the server ended"});
    } catch (const std::bad_alloc&) {
      return;  // the end of the listener drops them
    }
  }
}

// Lack of memory costs a client that comes then, and none that is here.
void Server::admit_or_drop(verbs::ConnectionRequest request) {
  try {
    admit(std::move(request));
  } catch (const std::exception& error) {
    log_warning("perf: a client was dropped: {}", cli::describe(error));
  }
}

void Server::reject(verbs::ConnectionRequest& request, const Refused& refused) const {
  log_warning("perf: {}: rejected: {}", cli::to_string(request.info().remote), refused.text);
  const Rejection rejection{Service::kPerf, kProtocolVersion,
                            static_cast<std::uint8_t>(refused.reason), refused.text};
  // If it fails the peer has gone already.
  (void)request.reject(rejection.encode(device_.attributes().max_private_data));
}

void Server::admit(verbs::ConnectionRequest request) {
  const auto greeting = Greeting::parse(request.private_data());
  if (!greeting) return reject(request, greeting.error());
  if (workers_.size() >= kMaxClients) {
    return reject(
        request, {Refused::Reason::kBusy,
                  fmt::format("the server has as many clients as it takes ({})", workers_.size())});
  }
  const auto held = std::make_shared<verbs::ConnectionRequest>(std::move(request));
  try {
    workers_.emplace_back(device_, held, *greeting, options_);
  } catch (const std::exception& error) {
    reject(*held,
           {Refused::Reason::kNoMeans,
            fmt::format("the server has no room for such a client: {}", cli::describe(error))});
  }
}

}  // namespace iwarp::cli::perf
