#pragma once

#include <span>
#include <string>
#include <vector>

#include "device_kinds.hpp"
#include "iwarp/verbs/verbs.hpp"

namespace iwarp::verbs::devices {

/// The names of the devices that there are, in the order of `kinds`.
std::vector<std::string> names_of(std::span<const DeviceKind> kinds);

/// Opens the device of that name. The empty name is what the environment variable IWARP_DEVICE
/// says, which a program does not ask that has more rights than its user (AT_SECURE), and without
/// it the prefix of the first kind. Errors: ENODEV with a sentence that says which devices there
/// are, if none is called so; what the provider says.
Outcome<Device> open(std::span<const DeviceKind> kinds, const std::string& name);

}  // namespace iwarp::verbs::devices
