#pragma once

#include <string>
#include <vector>

#include "adapter.hpp"

namespace iwarp::rnic {

/// What the system says of an adapter; empty where it says nothing.
struct Identity {
  std::string driver;  ///< As the kernel calls it: "cxgb4".
  std::vector<std::string> addresses;
};
Identity identity_of(const Adapter& adapter);

/// The IP addresses of the network interfaces with a hardware address, which stands at the front of
/// a GID as the system writes it: "5254:0077:0002:0000:0000:0000:0000:0000". An adapter's GID is
/// that of its port's interface, as iWARP has no GIDs of its own.
std::vector<std::string> addresses_behind(const std::string& gid);

}  // namespace iwarp::rnic
