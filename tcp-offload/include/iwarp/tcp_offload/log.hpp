#pragma once

#include <memory>
#include <string_view>

namespace spdlog {
class logger;
}

namespace iwarp::tcp_offload {

/// How much a line matters.
enum class LogLevel { kDebug, kWarn };

/// Where the stack's lines go from now on; null: to standard error again, from level info on, which
/// is the default. Any thread. The logger is kept until another one takes its place, to the end of
/// the process if none does, as threads of the stack may still have something to say while the
/// program's own objects are being destroyed.
void set_logger(std::shared_ptr<spdlog::logger> logger);

/// Writes one line. Any thread. Not to be called under a lock: the line may go to a slow place.
void log(LogLevel level, std::string_view line);

/// Whether a line of that level would be written anywhere.
bool logs(LogLevel level);

}  // namespace iwarp::tcp_offload
