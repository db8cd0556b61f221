#include "core/device.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "core/errors.hpp"
#include "exports.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {
namespace {

namespace ip = boost::asio::ip;

void fill(ibv_device& shown, const std::string& name, std::size_t number) {
  const bool ib = shows_as_ib();
  shown.node_type = ib ? IBV_NODE_CA : IBV_NODE_RNIC;
  shown.transport_type = ib ? IBV_TRANSPORT_IB : IBV_TRANSPORT_IWARP;
  const std::string verbs = "uverbs" + std::to_string(number);
  const std::string path = "/sys/class/infiniband_verbs/" + verbs;
  const std::string ib_path = "/sys/class/infiniband/" + name;
  name.copy(shown.name, sizeof shown.name - 1);
  verbs.copy(shown.dev_name, sizeof shown.dev_name - 1);
  path.copy(shown.dev_path, sizeof shown.dev_path - 1);
  ib_path.copy(shown.ibdev_path, sizeof shown.ibdev_path - 1);
}

}  // namespace

Interface Device::interface() const {
  for (Interface& each : usable_interfaces()) {
    if (each.index == interface_index) return std::move(each);
  }
  return {};
}

// Whichever a program asks for first, the interfaces before it in the list have their numbers.
Device& device_of(const Interface& interface) {
  static std::mutex mutex;
  static auto* const devices = new std::map<unsigned, std::unique_ptr<Device>>;
  const std::lock_guard lock(mutex);
  const auto add = [](unsigned index) {
    auto& device = (*devices)[index];
    if (device != nullptr) return;
    const std::size_t number = devices->size() - 1;
    device = std::make_unique<Device>();
    device->interface_index = index;
    fill(device->shown, "iwarp" + std::to_string(number), number);
  };
  if (!devices->contains(interface.index)) {
    for (const Interface& each : usable_interfaces()) add(each.index);
    add(interface.index);
  }
  return *devices->at(interface.index);
}

Device& device_of(ibv_device* shown) { return *reinterpret_cast<Device*>(shown); }

std::vector<Device*> all_devices() {
  std::vector<Device*> all;
  for (const Interface& interface : usable_interfaces()) all.push_back(&device_of(interface));
  return all;
}

ibv_gid gid_of(const ip::address& address) {
  const ip::address_v6 v6 =
      address.is_v6() ? address.to_v6() : ip::make_address_v6(ip::v4_mapped, address.to_v4());
  ibv_gid gid{};
  std::memcpy(gid.raw, v6.to_bytes().data(), sizeof gid.raw);
  return gid;
}

std::uint64_t guid_of(const Interface& interface) {
  const auto& mac = interface.mac;
  const std::array<std::uint8_t, 8> octets{
      static_cast<std::uint8_t>(mac[0] ^ 2U), mac[1], mac[2], 0xFF, 0xFE, mac[3], mac[4], mac[5]};
  std::uint64_t guid = 0;
  std::memcpy(&guid, octets.data(), sizeof guid);
  return guid;
}

}  // namespace iwarp::compat

// --- libibverbs ---

using namespace iwarp::compat;

ibv_device** ibv_get_device_list(int* count) {
  return guarded(
      [count]() -> ibv_device** {
        const auto devices = all_devices();
        auto list = std::make_unique<ibv_device*[]>(devices.size() + 1);
        std::transform(devices.begin(), devices.end(), list.get(),
                       [](Device* device) { return &device->shown; });
        if (count != nullptr) *count = static_cast<int>(devices.size());
        return list.release();
      },
      [](int error) -> ibv_device** { return fail_null(error); });
}

void ibv_free_device_list(ibv_device** list) { delete[] list; }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(device_of(device).interface_index);
}

__be64 ibv_get_device_guid(ibv_device* device) {
  return guarded([device] { return guid_of(device_of(device).interface()); },
                 [](int) -> std::uint64_t { return 0; });
}
