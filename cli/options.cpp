#include "options.hpp"

#include <cstdlib>

#include "help/checks.hpp"

namespace iwarp::cli {

void add_report_options(CLI::App& command, Context& context) {
  command.add_flag_callback(
      "--json", [&context] { context.output = Output::kJson; },
      "Print the result as one JSON object on standard output");
  command
      .add_option(
          "--log-level", context.log_level,
          "What goes to standard error: trace, debug, info, warning, error, critical or off")
      ->capture_default_str()
      ->transform(OneOf({"trace", "debug", "info", "warning", "error", "critical", "off"}))
      ->type_name("LEVEL");
}

void add_device_option(CLI::App& command, Context& context) {
  command
      .add_option(
          "--device", context.device,
          "The RDMA device: soft, soft:INTERFACE (by one network interface alone), or an adapter, "
          "as rnic:siw0; 'iwarp devices' lists them. Default: what IWARP_DEVICE in the environment "
          "says, or soft")
      ->transform(NotEmpty())
      ->type_name("DEVICE");
}

void add_quiet_option(CLI::App& command, Context& context) {
  command.add_flag_callback(
      "-q,--quiet", [&context] { context.progress_bar = ProgressBar::kNever; },
      "No progress bar, also on a terminal");
}

void add_mpa_options(CLI::App& command, StartUpFlags& flags) {
  command.add_flag("--no-crc", flags.no_crc,
                   "Do not ask for MPA's CRC32C; it is used if the peer asks (RFC 5044)");
  command.add_flag("--markers", flags.markers,
                   "Ask the peer to put MPA markers into what it sends (RFC 5044)");
}

void add_max_fpdu_option(CLI::App& command, std::uint32_t& octets) {
  command
      .add_option("--max-fpdu", octets,
                  "Send FPDUs of up to so many octets, even if they do not fit a TCP segment; know "
                  "the peer (RFC 5044 section 5.1)")
      ->transform(Octets(verbs::kLeastMaxFpdu, verbs::kGreatestMaxFpdu))
      ->type_name("N");
}

void add_revision_option(CLI::App& command, StartUpFlags& flags) {
  command
      .add_option("--mpa-revision", flags.mpa_revision,
                  "MPA start-up frames: 1 (RFC 5044) or 2 (RFC 6581)")
      ->capture_default_str()
      ->transform(OneOf({"1", "2"}))
      ->type_name("N");
}

void add_capture_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--capture",
          [](const std::string& directory) { ::setenv("IWARP_CAPTURE", directory.c_str(), 1); },
          "Record each connection there, payload and all, as a pcapng file for Wireshark")
      ->transform(Directory())
      ->type_name("DIR");
}

verbs::ConnectOptions connect_options(const StartUpFlags& flags) {
  verbs::ConnectOptions options;
  options.require_crc = !flags.no_crc;
  options.want_markers = flags.markers;
  options.mpa_revision = static_cast<std::uint8_t>(flags.mpa_revision);
  options.peer_to_peer = flags.mpa_revision >= 2;
  return options;
}

}  // namespace iwarp::cli
