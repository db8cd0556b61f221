#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// Numbers and lists for people. Units are decimal: 1 GB is 10^9 octets.
namespace iwarp::cli {

/// "512 B", "1.50 MB", "2.15 GB".
std::string human_size(std::uint64_t octets);
/// "1.17 GB/s".
std::string human_rate(double octets_per_second);
/// "0.532 s", "12.3 s", "2 min 05 s".
std::string human_duration(double seconds);

/// "a, b, c" with the separator ", ". fmt::join() would do, but brings all of fmt's code into each
/// place.
std::string joined(std::span<const std::string> words, std::string_view separator);

}  // namespace iwarp::cli
