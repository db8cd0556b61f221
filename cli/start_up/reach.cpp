#include "start_up/reach.hpp"

#include <future>
#include <thread>

#include "interrupt.hpp"
#include "log.hpp"

namespace iwarp::cli {
namespace {

// The system's resolver cannot be interrupted. It goes on by itself when a signal has come.
std::vector<verbs::Endpoint> resolve_or_be_interrupted(const HostPort& server) {
  std::packaged_task<std::vector<verbs::Endpoint>()> task([server] { return resolve(server); });
  auto found = task.get_future();
  std::thread(std::move(task)).detach();
  while (found.wait_for(kInterruptSlice) != std::future_status::ready) InterruptGuard::check();
  return found.get();
}

}  // namespace

void reach(const HostPort& server, const std::function<void(const verbs::Endpoint&)>& attempt) {
  const std::string name = to_string(server);
  std::string failures;
  bool named = false;
  for (const verbs::Endpoint& endpoint : resolve_or_be_interrupted(server)) {
    try {
      return attempt(endpoint);
    } catch (const Unreachable& failed) {
      log_info("{}: {}", to_string(endpoint), failed.what());
      failures += (failures.empty() ? "" : "; ") + std::string(failed.what());
      named = named || to_string(endpoint) == name;
    }
  }
  throw CommandError(named ? failures : fmt::format("cannot reach {}: {}", name, failures));
}

}  // namespace iwarp::cli
