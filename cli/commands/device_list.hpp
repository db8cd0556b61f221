#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/types.hpp"

/// What `iwarp devices` shows.
namespace iwarp::cli {

/// A device, and what it can do or why it cannot be opened.
struct ListedDevice {
  std::string name;
  verbs::Outcome<verbs::DeviceAttributes> attributes;
};

/// Every device of this host. Each is opened for a moment.
std::vector<ListedDevice> list_devices();

/// The network interfaces that soft:INTERFACE can name, in the order of the system; empty if it
/// does not say.
std::vector<std::string> interface_names();

/// Its name, a line for each part of the protocol that says where it runs, and its limits.
std::string to_text(const ListedDevice& device);

/// The same: "name" and "error", or "name", "provider", "stream", "offloads", "runs_on" and
/// "limits".
nlohmann::json to_json(const ListedDevice& device);

}  // namespace iwarp::cli
