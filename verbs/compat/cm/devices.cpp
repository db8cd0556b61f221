#include "cm/devices.hpp"

#include <rdma/rdma_cma.h>

#include <map>
#include <memory>
#include <mutex>

#include "core/context.hpp"
#include "core/device.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

struct Opened {
  std::mutex mutex;
  std::map<Device*, CmDevice> devices;
};

CmDevice open_once(Device& device) {
  Opened& opened = process::of_this_process<Opened>();
  const std::lock_guard lock(opened.mutex);
  CmDevice& known = opened.devices[&device];
  if (known.context == nullptr) known.context = ::ibv_open_device(&device.shown);
  if (known.context != nullptr && known.pd == nullptr) known.pd = ::ibv_alloc_pd(known.context);
  return known;
}

// What an IPv6 socket calls an IPv4 peer's or its own address; interfaces have the IPv4 one.
boost::asio::ip::address unmapped(const boost::asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
}

}  // namespace

CmDevice device_with(const boost::asio::ip::address& address) {
  const auto interface = interface_of(unmapped(address));
  if (!interface) return {};
  return open_once(device_of(*interface));
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

ibv_context** rdma_get_devices(int* count) {
  return guarded(
      [count]() -> ibv_context** {
        const auto devices = all_devices();
        auto list = std::make_unique<ibv_context*[]>(devices.size() + 1);
        int n = 0;
        for (Device* device : devices) {
          if (ibv_context* context = open_once(*device).context)
            list[static_cast<std::size_t>(n++)] = context;
        }
        if (count != nullptr) *count = n;
        return list.release();
      },
      [](int error) -> ibv_context** { return fail_null(error); });
}

void rdma_free_devices(ibv_context** list) { delete[] list; }
