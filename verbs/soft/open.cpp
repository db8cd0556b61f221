#include "iwarp/verbs/verbs.hpp"

/// The devices that there are: defined here, as the verbs themselves know of no provider.
namespace iwarp::verbs {

std::vector<std::string> device_names() { return {"kernel"}; }

Outcome<Device> Device::open(const std::string& name) {
  const std::string wanted = name.empty() ? device_names().front() : name;
  if (wanted != device_names().front()) {
    return fail(std::errc::no_such_device, "no device is called '" + wanted + "'");
  }
  auto core = provider::open_software(wanted);
  if (!core) return failure(core.error());
  return Device(std::move(*core));
}

}  // namespace iwarp::verbs
