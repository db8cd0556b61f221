#include <algorithm>

#include "connection_core.hpp"
#include "throw_error.hpp"

/// What a program that forks tells its execution context. Asio wants that said around the fork,
/// while no thread is inside the context; the device's threads, which submit handlers to it, are
/// kept outside meanwhile. The parent goes on. In the child the devices leave the context, whose
/// reactor is the child's own by then, and their operations end.
namespace iwarp::asio::detail {

void device_list::notify_fork(boost::asio::execution_context::fork_event event) {
  using boost::asio::execution_context;
  if (event == execution_context::fork_prepare) {
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [device, link] : devices_) {
        if (auto owner = link.lock()) forking_.push_back(std::move(owner));
      }
    }
    for (const auto& device : forking_) device->prepare_fork();
    return;
  }
  const auto devices = std::exchange(forking_, {});
  const bool child = event == execution_context::fork_child;
  for (const auto& device : devices) {
    child ? device->end_in_child() : device->go_on_in_parent();
  }
  if (!child) return;
  const std::lock_guard lock(mutex_);
  origin_ = verbs::Origin();
  devices_.clear();
}

// Locks are taken in the same order each time. A thread that still submits may need one of them.
void device_core::prepare_fork() {
  held_ = living_dependents();
  std::ranges::sort(held_);
  for (bool quiet = false; !quiet;) {
    for (const auto& one : held_) one->hold();
    quiet = std::ranges::none_of(held_, [](const auto& one) { return one->is_submitting(); });
    if (quiet) return;
    for (const auto& one : held_) one->let_go();
    for (const auto& one : held_) one->await_submissions();
  }
}

void device_core::go_on_in_parent() {
  for (const auto& one : std::exchange(held_, {})) one->let_go();
}

void device_core::end_in_child() {
  operation_list ended;
  for (const auto& one : held_) one->give_up(ended);
  for (const auto& one : std::exchange(held_, {})) one->let_go();
  leave_context();
  while (operation_base* one = ended.pop_front()) one->complete(no_device());
}

}  // namespace iwarp::asio::detail
