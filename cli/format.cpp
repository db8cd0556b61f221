#include "format.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cstddef>

namespace iwarp::cli {
namespace {

std::string scaled(double value) {
  constexpr std::array kUnits{"kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  value /= 1000;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, kUnits[unit]);
}

}  // namespace

std::string human_size(std::uint64_t octets) {
  if (octets < 1000) return fmt::format("{} B", octets);
  return scaled(static_cast<double>(octets));
}

std::string human_rate(double octets_per_second) { return scaled(octets_per_second) + "/s"; }

std::string human_duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.3f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != words.data()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace iwarp::cli
