#pragma once

#include <string_view>

namespace iwarp::tcp_offload {

enum class LogLevel { kDebug, kWarn };

/// Writes one line to the spdlog logger that is registered under the name "iwarp"; a program that
/// registers none gets one on standard error, from level info on. Any thread. Not to be called
/// under a lock: the line may go to a slow place.
void log(LogLevel level, std::string_view line);

/// Whether a line of that level would be written anywhere.
bool logs(LogLevel level);

}  // namespace iwarp::tcp_offload
