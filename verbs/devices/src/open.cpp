#include "choice.hpp"

/// What the verbs declare and no provider can define.
namespace iwarp::verbs {

std::vector<std::string> device_names() { return devices::names_of(devices::device_kinds()); }

Outcome<Device> Device::open(const std::string& name) {
  return devices::open(devices::device_kinds(), name);
}

}  // namespace iwarp::verbs
