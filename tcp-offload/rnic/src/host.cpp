#include "host.hpp"

#include <algorithm>

#include "adapter_event.hpp"

namespace iwarp::rnic {
namespace {

/// The hosts of this process, and the loops that those of one adapter share.
struct Hosts {
  std::mutex mutex;
  std::map<const Adapter*, std::weak_ptr<CmLoop>> loops;
  struct Known {
    const Adapter* adapter;
    std::weak_ptr<Host> host;
  };
  std::vector<Known> all;

  static Hosts& get() { return process::of_this_process<Hosts>(); }
};

verbs::Outcome<std::shared_ptr<CmLoop>> start_loop(const std::shared_ptr<Adapter>& adapter) {
  return CmLoop::start(adapter, [of = adapter.get()](const ibv_async_event& event) {
    return note_adapter_event(*of, event);
  });
}

// One has ended for ever when its last owner is gone. The adapter may have another one then.
verbs::Outcome<std::shared_ptr<CmLoop>> loop_of(const std::shared_ptr<Adapter>& adapter) {
  Hosts& hosts = Hosts::get();
  std::shared_ptr<CmLoop> loop;  // ends without the lock
  const std::lock_guard lock(hosts.mutex);
  std::erase_if(hosts.loops, [](const auto& each) { return each.second.expired(); });
  std::weak_ptr<CmLoop>& known = hosts.loops[adapter.get()];
  loop = known.lock();
  if (loop) return loop;
  auto started = start_loop(adapter);
  if (!started) return started;
  loop = std::move(*started);
  known = loop;
  return loop;
}

}  // namespace

verbs::Outcome<std::shared_ptr<Host>> Host::open(const std::string& adapter_name) {
  const auto core = RdmaCore::load();
  if (!core) {
    return failure(
        verbs::Error{core.error().code,
                     "the adapter '" + adapter_name + "' cannot be used: " + core.error().message});
  }
  auto adapter = Adapter::open(**core, adapter_name);
  if (!adapter) return failure(adapter.error());
  auto loop = loop_of(*adapter);
  if (!loop) return failure(loop.error());
  std::shared_ptr<Host> host(new Host(std::move(*adapter), std::move(*loop)));
  Hosts& hosts = Hosts::get();
  const std::lock_guard lock(hosts.mutex);
  std::erase_if(hosts.all, [](const auto& each) { return each.host.expired(); });
  hosts.all.push_back({host->adapter().get(), host});
  return host;
}

std::vector<std::shared_ptr<Host>> hosts_of(const Adapter& adapter) {
  std::vector<std::shared_ptr<Host>> found;  // ends without the lock
  Hosts& hosts = Hosts::get();
  const std::lock_guard lock(hosts.mutex);
  found.reserve(hosts.all.size());
  for (const auto& each : hosts.all) {
    if (each.adapter == &adapter) found.push_back(each.host.lock());
  }
  std::erase(found, nullptr);
  return found;
}

void Host::add(std::uint32_t qp_number, std::weak_ptr<QpEventTarget> target) {
  const std::lock_guard lock(mutex_);
  queue_pairs_[qp_number] = std::move(target);
}

void Host::remove(std::uint32_t qp_number) {
  const std::lock_guard lock(mutex_);
  queue_pairs_.erase(qp_number);
}

void Host::tell_queue_pair(std::uint32_t number, const std::string& what) {
  std::shared_ptr<QpEventTarget> target;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queue_pairs_.find(number);
    if (found != queue_pairs_.end()) target = found->second.lock();
  }
  if (target) target->on_qp_event(what);
}

void Host::on_adapter_lost(const std::string& what) {
  if (!heard_of_loss_) events_.report({verbs::AsyncEvent::Kind::kDeviceFatal, 0, what});
  heard_of_loss_ = true;
  std::vector<std::shared_ptr<QpEventTarget>> targets;
  {
    const std::lock_guard lock(mutex_);
    targets.reserve(queue_pairs_.size());
    for (const auto& each : queue_pairs_) targets.push_back(each.second.lock());
  }
  for (const auto& target : targets) {
    if (target) target->on_adapter_lost(what);
  }
}

void lose_adapter(Adapter& adapter, const std::string& what) {
  adapter.lose();
  for (const auto& host : hosts_of(adapter)) host->on_adapter_lost(what);
}

}  // namespace iwarp::rnic
