#pragma once

#include <memory>
#include <string>

#include "iwarp/verbs/provider.hpp"
#include "soft/platform.hpp"

namespace iwarp::verbs::soft {

/// What a device is called, and what it says of the stream device below.
struct DeviceNames {
  std::string name;    ///< As DeviceAttributes::name.
  std::string stream;  ///< As DeviceAttributes::stream.
};

/// The software provider on a platform. Throws std::bad_alloc.
std::shared_ptr<provider::Provider> make_provider(std::shared_ptr<Platform> platform,
                                                  DeviceNames names);

}  // namespace iwarp::verbs::soft
