#pragma once

#include <cstdint>
#include <iwarp/tcp_offload/log.hpp>
#include <string_view>

namespace iwarp::cli::file_service {

/// What strangers can have the server write to its log.
enum class Told : std::uint8_t { kRefusal, kRoomMade, kNoMeans, kDropped, kFailedPut, kFailedGet };

/// One line, unless there have been many of its kind (tcp_offload::LogLimit). Thread-safe.
void log_of_strangers(Told kind, tcp_offload::LogLevel level, std::string_view line);

}  // namespace iwarp::cli::file_service
