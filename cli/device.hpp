#pragma once

#include "context.hpp"
#include "iwarp/verbs/verbs.hpp"

/// The device that a subcommand works on.
namespace iwarp::cli {

/// Whether the device that --device names (options.hpp), or IWARP_DEVICE, is an adapter.
bool names_adapter(const Context& context);

/// Opens the device that --device names, or IWARP_DEVICE, or the software stack. Throws a
/// CommandError.
verbs::Device open_device(const Context& context);

}  // namespace iwarp::cli
