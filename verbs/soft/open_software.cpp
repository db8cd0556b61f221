#include "iwarp/provider/failure.hpp"
#include "soft/interface.hpp"
#include "soft/runtime.hpp"
#include "soft/soft_provider.hpp"

/// The software provider on its runtime.
namespace iwarp::verbs::provider {

Outcome<std::shared_ptr<Provider>> open_software(const std::string& interface) {
  const std::string name = interface.empty() ? "soft" : "soft:" + interface;
  const std::string failed = "the device '" + name + "' cannot be opened";
  if (auto why = soft::interface_error(interface, failed)) return failure(std::move(*why));
  try {
    return soft::make_provider(soft::Runtime::make(interface), {.name = name, .stream = "kernel"});
  } catch (const std::exception& thrown) {
    return failure(error_of(thrown, failed));
  }
}

}  // namespace iwarp::verbs::provider
