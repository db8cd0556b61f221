#include "adapter.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "iwarp/process/forks.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;

// What would help against a refusal of the system's, where that is known.
std::string remedy(int system_error) {
  switch (system_error) {
    case EACCES:
    case EPERM:
      return ": this user may not use the files in /dev/infiniband; add it to the group that they "
             "belong to, or change their rights";
    case ENOMEM: {
      rlimit limit{};
      if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
      return ": this process may lock " + std::to_string(limit.rlim_cur / 1024) +
             " KiB of memory, which may be too little; raise that limit (ulimit -l, or "
             "LimitMEMLOCK= "
             "of a service)";
    }
    default: return {};
  }
}

std::error_code code_of(int system_error) {
  return std::make_error_code(static_cast<std::errc>(system_error));
}

/// The devices of the system, as libibverbs lists them.
class DeviceList {
 public:
  explicit DeviceList(const RdmaCore& core) : core_(core) {
    int count = 0;
    devices_ = core.ibv_get_device_list(&count);
    if (devices_ != nullptr) all_ = {devices_, static_cast<std::size_t>(count)};
  }
  ~DeviceList() {
    if (devices_ != nullptr) core_.ibv_free_device_list(devices_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  [[nodiscard]] std::span<ibv_device* const> all() const { return all_; }
  [[nodiscard]] ibv_device* find(const std::string& name) const {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](ibv_device* each) {
      return name == core_.ibv_get_device_name(each);
    });
    return at == all_.end() ? nullptr : *at;
  }

 private:
  const RdmaCore& core_;
  ibv_device** devices_ = nullptr;
  std::span<ibv_device* const> all_;
};

bool is_iwarp(const ibv_device& device) { return device.transport_type == IBV_TRANSPORT_IWARP; }

// Why librdmacm has no context of a device that libibverbs lists.
verbs::Error why_not_opened(const RdmaCore& core, ibv_device* device, const std::string& name) {
  ibv_context* const tried = core.ibv_open_device(device);
  const int why = tried == nullptr ? why_not_used(device->dev_name, errno) : ENODEV;
  if (tried != nullptr) core.ibv_close_device(tried);
  return {code_of(why), "the adapter '" + name + "' cannot be opened (" + code_of(why).message() +
                            ")" + remedy(why)};
}

verbs::Error lost_error(const std::string& name) {
  return {std::make_error_code(std::errc::no_such_device),
          name + " has failed, or was removed: close what is open of it, and open it anew"};
}

constexpr std::chrono::seconds kClosing{1};
constexpr std::chrono::milliseconds kBetweenOpens{5};

/// The adapters that this process has opened, by their names.
struct Opened {
  std::mutex mutex;
  std::condition_variable closed;
  std::map<std::string, Adapter*> adapters;

  static Opened& get() { return process::of_this_process<Opened>(); }
};

}  // namespace

Adapter::Adapter(const RdmaCore& with, Contexts opened, ibv_context* which,
                 const ibv_device_attr& can)
    : core(with),
      context(which),
      name(with.ibv_get_device_name(which->device)),
      limits(can),
      opened_(std::move(opened)),
      commands_in_children_(which->cmd_fd),
      events_in_children_(which->async_fd) {}

Adapter::~Adapter() {
  commands_in_children_.release();
  events_in_children_.release();
  opened_.reset();
  Opened& opened = Opened::get();
  {
    const std::lock_guard lock(opened.mutex);
    const auto known = opened.adapters.find(name);
    if (known != opened.adapters.end() && known->second == this) opened.adapters.erase(known);
  }
  opened.closed.notify_all();
}

Outcome<std::shared_ptr<Adapter>> Adapter::open(const RdmaCore& core, const std::string& name) {
  static const process::Origin opened_first;
  if (opened_first.inherited()) {
    return verbs::fail(std::errc::device_or_resource_busy,
                       "the adapter '" + name +
                           "' was opened before this process was forked: what librdmacm has of it "
                           "is the parent's");
  }
  for (const auto until = std::chrono::steady_clock::now() + kClosing;;) {
    auto found = find_or_open(core, name);
    if (!found || *found) return found;
    if (std::chrono::steady_clock::now() >= until) return failure(lost_error(name));
    std::this_thread::sleep_for(kBetweenOpens);
  }
}

// Null: the one of that name has failed, and is still open. What the program has closed may be with
// other threads for a moment.
Outcome<std::shared_ptr<Adapter>> Adapter::find_or_open(const RdmaCore& core,
                                                        const std::string& name) {
  Opened& opened = Opened::get();
  std::unique_ptr<Adapter> fresh;  // these end without the lock
  std::shared_ptr<Adapter> shared, lost;
  std::unique_lock lock(opened.mutex);
  for (auto known = opened.adapters.find(name); known != opened.adapters.end();
       known = opened.adapters.find(name)) {
    shared = known->second->weak_from_this().lock();
    if (shared && shared->is_lost()) {  // another one may have its name
      lost = std::move(shared);
      break;
    }
    if (shared) return shared;
    opened.closed.wait(lock);  // it is being closed
  }
  auto made = open_anew(core, name, lost.get());
  if (!made) return failure(made.error());
  if (*made == nullptr) return std::shared_ptr<Adapter>();
  fresh = std::move(*made);
  shared = std::move(fresh);
  opened.adapters[name] = shared.get();
  return shared;
}

// Null if it is the lost one: librdmacm keeps what is open, however it fares.
Outcome<std::unique_ptr<Adapter>> Adapter::open_anew(const RdmaCore& core, const std::string& name,
                                                     const Adapter* lost) {
  const DeviceList list(core);
  ibv_device* const device = list.find(name);
  if (device == nullptr) {
    return verbs::fail(std::errc::no_such_device, "no adapter is called '" + name + "'");
  }
  if (!is_iwarp(*device)) {
    return verbs::fail(std::errc::no_such_device,
                       "the adapter '" + name + "' speaks another protocol than iWARP");
  }
  int count = 0;
  Contexts opened(core.rdma_get_devices(&count), FreeContexts{&core});
  if (!opened) {
    const int why = errno;
    return failure(
        verbs::Error{code_of(why), "librdmacm cannot use any adapter (" + code_of(why).message() +
                                       "): is the kernel's module rdma_ucm loaded?" + remedy(why)});
  }
  const std::span all(opened.get(), static_cast<std::size_t>(count));
  const auto at = std::find_if(all.begin(), all.end(), [&](ibv_context* each) {
    return name == core.ibv_get_device_name(each->device);
  });
  if (at != all.end() && lost != nullptr && *at == lost->context) {
    return std::unique_ptr<Adapter>();
  }
  ibv_device_attr limits{};
  const int refused = at == all.end() ? 0 : core.ibv_query_device(*at, &limits);
  if (at != all.end() && refused == 0) {
    return std::unique_ptr<Adapter>(new Adapter(core, std::move(opened), *at, limits));
  }
  if (at == all.end()) return failure(why_not_opened(core, device, name));
  return failure(
      verbs::Error{code_of(refused), "the adapter '" + name + "' does not tell its limits"});
}

int why_not_used(const char* device_file, int system_error) {
  if (system_error != ENOENT) return system_error;
  const std::string path = std::string("/dev/infiniband/") + device_file;
  return ::access(path.c_str(), R_OK | W_OK) == 0 ? system_error : errno;
}

Outcome<void> Adapter::check() const {
  if (!is_lost()) return {};
  return failure(lost_error(name));
}

verbs::Error Adapter::error(const std::string& what, int system_error) const {
  return {code_of(system_error),
          name + ": " + what + " (" + code_of(system_error).message() + ")" + remedy(system_error)};
}

std::vector<std::string> iwarp_adapters(const RdmaCore& core) {
  const DeviceList list(core);
  std::vector<std::string> names;
  for (ibv_device* const device : list.all()) {
    if (is_iwarp(*device)) names.emplace_back(core.ibv_get_device_name(device));
  }
  return names;
}

}  // namespace iwarp::rnic
