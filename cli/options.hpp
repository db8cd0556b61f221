#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

#include "context.hpp"
#include "iwarp/verbs/connection.hpp"

/// Options that several subcommands take, spelled and explained the same way everywhere.
namespace iwarp::cli {

/// How a connection starts, as the command line says it. The defaults are the stack's.
struct StartUpFlags {
  bool no_crc = false;
  bool markers = false;
  int mpa_revision = 2;
};

/// --json and --log-level: for every subcommand that reports.
void add_report_options(CLI::App& command, Context& context);
/// --device NAME: for every subcommand that opens a device. `run` has a meaning of its own for it.
void add_device_option(CLI::App& command, Context& context);
/// --quiet: for subcommands that move something large.
void add_quiet_option(CLI::App& command, Context& context);
/// --no-crc and --markers: for both roles.
void add_mpa_options(CLI::App& command, StartUpFlags& flags);
/// --max-fpdu: for whatever sends. 0 if it is not given, else what QpOptions::max_fpdu takes.
void add_max_fpdu_option(CLI::App& command, std::uint32_t& octets);
/// --mpa-revision: for the role that connects; the one that listens answers what it is asked.
void add_revision_option(CLI::App& command, StartUpFlags& flags);

/// --capture DIR: the connections of this program are recorded for Wireshark. The option takes
/// effect when a device is opened after the command line was parsed.
void add_capture_option(CLI::App& command);

/// The flags as the verbs layer wants them.
verbs::ConnectOptions connect_options(const StartUpFlags& flags);

}  // namespace iwarp::cli
