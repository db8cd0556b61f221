#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "verbs/contract/world.hpp"

namespace iwarp::verbs::contract {

/// Which device, where, and what differs from what its attributes tell.
struct DeviceChoice {
  std::string name;                       ///< As for Device::open().
  std::string server_name;                ///< Of the end that listens; empty: the same.
  Address address = Address::loopback();  ///< Of this host, reached over that device.
  std::chrono::milliseconds pause{0};     ///< Between a connection and its first message.
  Capability more = Capability::kNone;    ///< What it promises besides.
  Capability fewer = Capability::kNone;   ///< What it does not, for all its attributes tell.
};

/// A device that is opened by name, once, and reaches itself: both ends of a connection; or two of
/// them, which promise what both do. Real time.
std::unique_ptr<World> make_device_world(const DeviceChoice& choice);

}  // namespace iwarp::verbs::contract
