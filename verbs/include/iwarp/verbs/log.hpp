#pragma once

#include <memory>
#include <string_view>

#include "iwarp/base/export.hpp"

namespace spdlog {
class logger;
}

namespace iwarp::verbs {

/// Where the library writes from now on why a connection ended, and what else no caller was there
/// to be told; null: to standard error again, from level info on, which is the default. Any thread.
/// The logger is kept until another one takes its place, to the end of the process if none does, as
/// threads of the library may still have something to say while the program's own objects are being
/// destroyed.
IWARP_API void set_logger(std::shared_ptr<spdlog::logger> logger);

/// For layers above, which tell there what they have no other way to tell.
enum class LogLevel { kDebug, kWarn };
/// Writes one line. Any thread. Not to be called under a lock: the line may go to a slow place.
IWARP_API void log(LogLevel level, std::string_view line);

}  // namespace iwarp::verbs
