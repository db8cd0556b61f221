#include "device_kinds.hpp"

#include <array>

#ifdef IWARP_HAS_RNIC
#include "iwarp/rnic/adapters.hpp"
#endif

namespace iwarp::verbs::devices {
namespace {

std::vector<std::string> software_names() { return {""}; }

}  // namespace

std::span<const DeviceKind> device_kinds() {
  static constexpr std::array kKinds = {
      DeviceKind{"soft", "soft:INTERFACE", software_names, provider::open_software},
#ifdef IWARP_HAS_RNIC
      DeviceKind{"rnic", "", rnic::adapter_names, rnic::open_adapter},
#endif
  };
  return kKinds;
}

}  // namespace iwarp::verbs::devices
