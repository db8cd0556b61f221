#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iwarp/verbs/provider.hpp"

namespace iwarp::verbs::devices {

/// One provider, as a device's name chooses it. A device is called PREFIX:REST, or PREFIX alone
/// where the rest is empty.
struct DeviceKind {
  std::string_view prefix;
  /// Names that names() does not enumerate, as messages write them: "soft:INTERFACE"; or empty.
  std::string_view form;
  /// What stands behind the prefix of each device that there is now; an empty one is the prefix
  /// alone, which is no device without it. Asks the system, and fails by an empty list.
  std::vector<std::string> (*names)();
  /// Opens the device of that rest. Its errors name the device or what it lacks.
  Outcome<std::shared_ptr<provider::Provider>> (*open)(const std::string& rest);
};

/// Every provider of this library. What the empty name opens is the prefix of the first.
std::span<const DeviceKind> device_kinds();

}  // namespace iwarp::verbs::devices
