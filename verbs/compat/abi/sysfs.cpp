// The devices are not in sysfs; what programs ask there about them is answered from here.
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "core/device.hpp"
#include "core/errors.hpp"

namespace iwarp::compat {
namespace {

// What lies under /sys/class/infiniband for a device that is there.
std::optional<std::string> attribute_of(const Device& device, std::string_view file) {
  if (file == "node_type") {
    return device.shown.transport_type == IBV_TRANSPORT_IB ? "1: CA" : "4: RNIC";
  }
  if (file == "hca_type" || file == "board_id") return "iwarp";
  if (file == "fw_ver") return "1.0";
  if (file == "hw_rev") return "0";
  if (file == "ports/1/link_layer") return "Ethernet";
  if (file == "ports/1/state") return "4: ACTIVE";
  return std::nullopt;
}

std::optional<std::string> attribute_at(std::string_view directory, std::string_view file) {
  for (const Device* device : all_devices()) {
    if (directory == device->shown.ibdev_path) return attribute_of(*device, file);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace iwarp::compat

using namespace iwarp::compat;

extern "C" {

const char* ibv_get_sysfs_path() { return "/sys"; }

// Returns the length without the end of the line, or -1.
int ibv_read_sysfs_file(const char* directory, const char* file, char* into, std::size_t size) {
  return guarded(
      [&] {
        const auto text = attribute_at(directory, file);
        if (!text || size == 0) return fail_minus(ENOENT);
        const std::size_t length = std::min(text->size(), size - 1);
        std::memcpy(into, text->data(), length);
        into[length] = '\0';
        return static_cast<int>(length);
      },
      fail_minus);
}
}
