#pragma once

#include <optional>
#include <string>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/error.hpp"

/// A software device that is confined to one network interface, in what is told of its failures.
namespace iwarp::verbs::soft {

/// Why no device can be confined to that interface: `what_failed`, and what the system said of it.
/// Nothing if one can, or if `interface` is empty. Codes: those of tcp_offload::try_interface().
std::optional<Error> interface_error(const std::string& interface, const std::string& what_failed);

/// What stands behind the address in a sentence about a connection or a listener of that device:
/// " by the interface eth0", or nothing.
std::string by_interface(const tcp_offload::Device& device);

}  // namespace iwarp::verbs::soft
