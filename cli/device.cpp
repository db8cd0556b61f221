#include "device.hpp"

#include <cstdlib>

namespace iwarp::cli {

bool names_adapter(const Context& context) {
  const char* const by_environment = ::secure_getenv("IWARP_DEVICE");
  const std::string name = !context.device.empty()     ? context.device
                           : by_environment != nullptr ? by_environment
                                                       : "";
  return name.starts_with("rnic:");
}

verbs::Device open_device(const Context& context) {
  return require(verbs::Device::open(context.device), "cannot open a device");
}

}  // namespace iwarp::cli
