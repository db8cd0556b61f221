#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "iwarp/verbs/verbs.hpp"
#include "json_output.hpp"
#include "options.hpp"

namespace iwarp::cli {
namespace {

using verbs::DeviceAttributes;

/// The limits of a device with the names under which both outputs show them.
std::vector<std::pair<const char*, std::uint64_t>> limits(const DeviceAttributes& device) {
  return {{"max_qp", device.max_qp},           {"max_cq", device.max_cq},
          {"max_mr", device.max_mr},           {"max_pd", device.max_pd},
          {"max_qp_wr", device.max_qp_wr},     {"max_sge", device.max_sge},
          {"max_cqe", device.max_cqe},         {"max_inline", device.max_inline},
          {"max_ird", device.max_ird},         {"max_ord", device.max_ord},
          {"max_mr_size", device.max_mr_size}, {"max_private_data", device.max_private_data}};
}

void print_text(const DeviceAttributes& device) {
  std::string offloads;
  for (const std::string& name : device.offloads) offloads += (offloads.empty() ? "" : ", ") + name;
  std::cout << fmt::format("{}\n  provider {}, stream device {}\n  offloads: {}\n", device.name,
                           device.provider, device.stream, offloads.empty() ? "none" : offloads);
  for (const auto& [name, value] : limits(device)) {
    std::cout << fmt::format("  {:<18}{}\n", name, value);
  }
}

nlohmann::json as_json(const DeviceAttributes& device) {
  nlohmann::json limit_values = nlohmann::json::object();
  for (const auto& [name, value] : limits(device)) limit_values[name] = value;
  return {{"name", device.name},
          {"provider", device.provider},
          {"stream", device.stream},
          {"offloads", device.offloads},
          {"limits", limit_values}};
}

void run_devices(const Context& context) {
  configure_log(context.log_level);
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : verbs::device_names()) {
    const verbs::Device device = require(verbs::Device::open(name), "cannot open device " + name);
    if (context.output == Output::kJson) {
      all.push_back(as_json(device.attributes()));
    } else {
      print_text(device.attributes());
    }
  }
  if (context.output == Output::kJson) print_json({{"operation", "devices"}, {"devices", all}});
}

}  // namespace

void add_devices_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("devices", "List RDMA devices and what they offload");
  add_report_options(*command, context);
  command->footer(
      "An offload is a part of the protocol that the device does instead of this host's\n"
      "processor: crc, markers, segmentation, placement, or full.\n\n"
      "Examples:\n"
      "  iwarp devices\n"
      "  iwarp devices --json");
  command->callback([&context] { run_devices(context); });
}

}  // namespace iwarp::cli
