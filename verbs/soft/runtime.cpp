#include "soft/runtime.hpp"

#include "iwarp/process/forks.hpp"
#include "iwarp/process/quiet_thread.hpp"
#include "iwarp/provider/failure.hpp"
#include "iwarp/provider/inherited.hpp"
#include "soft/engine/device_thread.hpp"
#include "soft/startup/starved.hpp"

namespace iwarp::verbs::soft {
namespace {

// How long the end is held up for peers that do not take their rejection, or do not close.
constexpr std::chrono::seconds kRejectionsAtExit{2};
/// Until what has found no memory tries again.
constexpr std::chrono::milliseconds kStarvedPause{20};

}  // namespace

Runtime::Runtime(const std::string& interface)
    : work_(context_.get_executor()),
      device_(context_, {.interface = interface}),
      registry_(std::make_shared<MemoryRegistry>()),
      executor_(device_thread([this] { run_executor(); })) {}

std::shared_ptr<Runtime> Runtime::make(const std::string& interface) {
  return {new Runtime(interface), [origin = process::Origin()](Runtime* last) {
            std::unique_ptr<Runtime> runtime(last);
            // Its threads are not here, and its sets of sockets are those that they wait at.
            if (origin.inherited()) return process::leave_to_parent(std::move(runtime));
            if (!runtime->on_own_thread()) return;
            process::quiet_thread([runtime = std::move(runtime)]() mutable {
              runtime.reset();
            }).detach();
          }};
}

// What a task throws ends that task: each step of a start-up that does not come has its time-out,
// or is one that has starved.
void Runtime::run_executor() {
  for (bool over = false; !over;) {
    try {
      over = !take_turn();
    } catch (const std::exception& error) {
      log_failure("a step of a connection's start, or a handler of the program, has failed", error);
    }
  }
  ran_out_.set_value();
}

// False once there is nothing left to do.
bool Runtime::take_turn() {
  if (!Starved::any()) return context_.run_one() != 0;
  context_.run_one_for(kStarvedPause);
  Starved::feed_all();
  return !context_.stopped();
}

// What is left for the executor are answers that programs gave last: a rejection is still to
// arrive, instead of the end of the connection, which a peer takes for something else.
Runtime::~Runtime() {
  work_.reset();
  ran_out_.get_future().wait_for(kRejectionsAtExit);
  context_.stop();
  executor_.join();
}

bool Runtime::on_own_thread() const {
  return engine_.is_own_thread() || std::this_thread::get_id() == executor_.get_id();
}

tcp_offload::Device& Runtime::device(const std::string& capture) {
  if (capture.empty() || !capture_everything_.empty()) return device();
  const Guard lock(captures_mutex_);
  return captures_.try_emplace(capture, device_, capture).first->second;
}

}  // namespace iwarp::verbs::soft
