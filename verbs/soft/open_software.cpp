#include "soft/failure.hpp"
#include "soft/runtime.hpp"
#include "soft/soft_provider.hpp"

/// The software provider on its runtime.
namespace iwarp::verbs::provider {

Outcome<std::shared_ptr<Provider>> open_software(const std::string& device_name) {
  try {
    return soft::make_provider(soft::Runtime::make(), {.name = device_name, .stream = "kernel"});
  } catch (const std::exception& thrown) {
    return failure(soft::error_of(thrown, "the device '" + device_name + "' cannot be opened"));
  }
}

}  // namespace iwarp::verbs::provider
