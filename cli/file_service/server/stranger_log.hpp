#pragma once

#include <cstdint>
#include <exception>
#include <iwarp/process/log.hpp>
#include <string_view>

namespace iwarp::cli::file_service {

/// What strangers can have the server write to its log.
enum class Told : std::uint8_t { kRefusal, kRoomMade, kNoMeans, kDropped, kFailedPut, kFailedGet };

/// As log_of_strangers, of a line that stands.
void write_of_strangers(Told kind, process::LogLevel level, std::string_view line);

/// One line, which `line()` gives, unless there have been many of its kind (process::LogLimit),
/// or there is no memory for it: what is told about has happened, and is not undone by that.
/// Thread-safe.
template <typename Line>
void log_of_strangers(Told kind, process::LogLevel level, const Line& line) noexcept {
  try {
    write_of_strangers(kind, level, line());
  } catch (const std::exception&) {
    // It goes untold.
  }
}

}  // namespace iwarp::cli::file_service
