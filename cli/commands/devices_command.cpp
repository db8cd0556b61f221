#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.hpp"
#include "commands/device_list.hpp"
#include "json_output.hpp"
#include "log.hpp"
#include "options.hpp"
#include "text/layout.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

/// The lines, of which those that are too long for the width go on in the next one.
std::string fitted(const std::string& lines, std::size_t width) {
  std::istringstream input(lines);
  std::string text;
  for (std::string line; std::getline(input, line);) {
    text += columns(line) <= width ? line + "\n" : filled(line, width, "  ", 4);
  }
  return text;
}

void print_devices(const std::vector<ListedDevice>& devices) {
  std::string form = "as soft, by one network interface alone:";
  for (const std::string& name : interface_names()) form += " " + printable(name);
  // What is no terminal reads lines, however long.
  const std::size_t width = terminal_columns(STDOUT_FILENO).value_or(std::string::npos);
  for (const ListedDevice& device : devices) std::cout << fitted(to_text(device), width);
  std::cout << "soft:INTERFACE\n" << filled(form, width, "  ", 2);
}

void print_devices_json(const std::vector<ListedDevice>& devices) {
  nlohmann::json all = nlohmann::json::array();
  for (const ListedDevice& device : devices) all.push_back(to_json(device));
  const nlohmann::json form = {{"form", "soft:INTERFACE"}, {"interfaces", interface_names()}};
  print_json({{"operation", "devices"}, {"devices", all}, {"forms", {form}}});
}

void run_devices(Context& context) {
  configure_log(context.log_level);
  const auto devices = list_devices();
  context.output == Output::kJson ? print_devices_json(devices) : print_devices(devices);
  const bool any = std::any_of(devices.begin(), devices.end(),
                               [](const auto& device) { return device.attributes.has_value(); });
  if (!any) context.exit_status = static_cast<int>(ExitStatus::kFailed);
}

}  // namespace

void add_devices_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("devices", "List RDMA devices and what runs where");
  add_report_options(*command, context);
  command->footer(
      "Each name is what --device and the environment variable IWARP_DEVICE take. Below it stands\n"
      "for each part of the protocol whether this host's processor runs it or the adapter, and "
      "what\n"
      "the device has room for; of a device that cannot be opened, why.\n\n"
      "In JSON, `offloads` are the parts that the device takes off this host: crc, markers,\n"
      "or full.\n\n"
      "Exit status: 0 if any device can be opened, 1 if none, 2 for wrong usage.\n\n"
      "Examples:\n"
      "  iwarp devices\n"
      "  iwarp devices --json\n"
      "  iwarp ls --device soft:lo iwarp://127.0.0.1/");
  command->callback([&context] { run_devices(context); });
}

}  // namespace iwarp::cli
