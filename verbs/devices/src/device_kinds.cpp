#include "device_kinds.hpp"

#include <array>

namespace iwarp::verbs::devices {
namespace {

std::vector<std::string> software_names() { return {""}; }

}  // namespace

std::span<const DeviceKind> device_kinds() {
  static constexpr std::array kKinds = {
      DeviceKind{"soft", "soft:INTERFACE", software_names, provider::open_software},
  };
  return kKinds;
}

}  // namespace iwarp::verbs::devices
