#pragma once

#include <CLI/CLI.hpp>

#include "context.hpp"
#include "iwarp/verbs/verbs.hpp"

/// The device that a subcommand works on.
namespace iwarp::cli {

/// --device NAME: for every subcommand that opens a device. `run` has a meaning of its own for it.
void add_device_option(CLI::App& command, Context& context);

/// Whether that device is an adapter.
bool names_adapter(const Context& context);

/// Opens the device that --device names, or IWARP_DEVICE, or the software stack. Throws a
/// CommandError.
verbs::Device open_device(const Context& context);

}  // namespace iwarp::cli
