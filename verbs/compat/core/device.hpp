#pragma once

#include <infiniband/verbs.h>

#include <array>

#include "shared/interfaces.hpp"

namespace iwarp::compat {

/// A network interface as a verbs device. What the program gets is the first member; drivers'
/// libraries look a little behind it (mlx5dv_is_supported), where zeros must be.
struct Device {
  ibv_device shown{};
  std::array<std::byte, 512> beyond{};
  unsigned interface_index = 0;

  /// The interface as it is now; an empty one if it has gone.
  [[nodiscard]] Interface interface() const;
};
static_assert(offsetof(Device, shown) == 0);

/// The device of an interface. Devices stay where they are until the process ends, and keep their
/// names: iwarp0, iwarp1, … in the order of usable_interfaces(), later ones behind them.
Device& device_of(const Interface& interface);
Device& device_of(ibv_device* shown);
/// Those of all usable interfaces.
std::vector<Device*> all_devices();

/// GIDs: an IPv4 address as its IPv4-mapped IPv6 address.
ibv_gid gid_of(const boost::asio::ip::address& address);
/// Made from the interface's MAC address as EUI-64, in network byte order.
std::uint64_t guid_of(const Interface& interface);

}  // namespace iwarp::compat
