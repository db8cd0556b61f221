#include "commands/device_list.hpp"

#include <net/if.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "context.hpp"
#include "format.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

using verbs::DeviceAttributes;

/// A part of the protocol: its name in the text and in JSON, and which offload takes it off this
/// host; "full" takes all of them, and some parts go with nothing less.
struct Part {
  const char* text;
  const char* json;
  std::string_view offload;
};

constexpr std::array kParts = {
    Part{"RDMAP", "rdmap", "full"},
    Part{"DDP placement", "ddp_placement", "full"},
    Part{"MPA segmentation", "mpa_segmentation", "full"},
    Part{"MPA markers", "mpa_markers", "markers"},
    Part{"CRC", "crc", "crc"},
    Part{"TCP", "tcp", "full"},
};

bool is_offloaded(const DeviceAttributes& device, const Part& part) {
  return std::any_of(device.offloads.begin(), device.offloads.end(), [&part](const auto& offload) {
    return offload == "full" || offload == part.offload;
  });
}

/// The limits of a device with the names under which both outputs show them.
std::vector<std::pair<const char*, std::uint64_t>> limits(const DeviceAttributes& device) {
  return {{"max_qp", device.max_qp},           {"max_cq", device.max_cq},
          {"max_mr", device.max_mr},           {"max_pd", device.max_pd},
          {"max_qp_wr", device.max_qp_wr},     {"max_sge", device.max_sge},
          {"max_cqe", device.max_cqe},         {"max_inline", device.max_inline},
          {"max_ird", device.max_ird},         {"max_ord", device.max_ord},
          {"max_mr_size", device.max_mr_size}, {"max_private_data", device.max_private_data},
          {"max_mw", device.max_mw},           {"max_srq", device.max_srq},
          {"max_srq_wr", device.max_srq_wr}};
}

/// What not every device can do.
std::vector<std::pair<const char*, bool>> features(const DeviceAttributes& device) {
  return {{"rfc7306", device.rfc7306},
          {"mpa_choices", device.mpa_choices},
          {"remote_invalidate", device.remote_invalidate},
          {"resizes_cq", device.resizes_cq},
          {"srq_share", device.srq_share},
          {"sinks_need_remote_write", has(device.read_sink, verbs::Access::kRemoteWrite)}};
}

std::string to_text(const DeviceAttributes& device) {
  std::string text =
      fmt::format("  provider {}, stream device {}\n", device.provider, device.stream);
  if (device.port != 0) {
    text += fmt::format("  driver {}, port {}\n  addresses {}\n",
                        device.driver.empty() ? "unknown" : device.driver, device.port,
                        device.addresses.empty() ? "none" : joined(device.addresses, " "));
  }
  for (const Part& part : kParts) {
    text += fmt::format("  {:<18}{}\n", part.text,
                        is_offloaded(device, part) ? "the adapter" : "this host");
  }
  for (const auto& [name, value] : limits(device)) text += fmt::format("  {:<18}{}\n", name, value);
  for (const auto& [name, can] : features(device)) {
    text += fmt::format("  {:<24}{}\n", name, can ? "yes" : "no");
  }
  return text;
}

}  // namespace

std::vector<ListedDevice> list_devices() {
  std::vector<ListedDevice> all;
  for (const std::string& name : verbs::device_names()) {
    auto device = verbs::Device::open(name);
    if (device) {
      all.push_back({name, device->attributes()});
    } else {
      all.push_back({name, failure(std::move(device).error())});
    }
  }
  return all;
}

std::vector<std::string> interface_names() {
  struct if_nameindex* const all = ::if_nameindex();
  if (all == nullptr) return {};
  const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> freed(
      all, [](struct if_nameindex* list) { ::if_freenameindex(list); });
  std::vector<std::string> names;
  for (const auto* one = all; one->if_index != 0; ++one) names.emplace_back(one->if_name);
  return names;
}

std::string to_text(const ListedDevice& device) {
  const auto& attributes = device.attributes;
  return printable(device.name) + "\n" +
         (attributes ? to_text(*attributes) : "  " + printable(attributes.error().message) + "\n");
}

nlohmann::json to_json(const ListedDevice& device) {
  if (!device.attributes) {
    return {{"name", device.name}, {"error", device.attributes.error().message}};
  }
  const DeviceAttributes& attributes = *device.attributes;
  nlohmann::json runs_on = nlohmann::json::object(), limit_values = nlohmann::json::object(),
                 feature_values = nlohmann::json::object();
  for (const Part& part : kParts) {
    runs_on[part.json] = is_offloaded(attributes, part) ? "adapter" : "host";
  }
  for (const auto& [name, value] : limits(attributes)) limit_values[name] = value;
  for (const auto& [name, can] : features(attributes)) feature_values[name] = can;
  nlohmann::json all = {{"name", device.name},         {"provider", attributes.provider},
                        {"stream", attributes.stream}, {"offloads", attributes.offloads},
                        {"runs_on", runs_on},          {"limits", limit_values},
                        {"features", feature_values}};
  if (attributes.port == 0) return all;
  all["adapter"] = {{"driver", attributes.driver},
                    {"port", attributes.port},
                    {"addresses", attributes.addresses}};
  return all;
}

}  // namespace iwarp::cli
