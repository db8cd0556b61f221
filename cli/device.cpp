#include "device.hpp"

#include <cstdlib>

#include "help/checks.hpp"

namespace iwarp::cli {

void add_device_option(CLI::App& command, Context& context) {
  command
      .add_option(
          "--device", context.device,
          "The RDMA device: soft, soft:INTERFACE (by one network interface alone), or an adapter, "
          "as rnic:siw0; 'iwarp devices' lists them. Default: what IWARP_DEVICE in the environment "
          "says, or soft")
      ->transform(NotEmpty())
      ->type_name("DEVICE");
}

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
