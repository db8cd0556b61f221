#include "file_service/wire/silence.hpp"

#include <algorithm>
#include <utility>

namespace iwarp::cli::file_service {
namespace {

/// More time than this between two looks is time in which no thread looked.
constexpr std::chrono::seconds kLongestStep{1};
/// The parts of a limit of which one look never takes more than one.
constexpr int kFewestLooks = 4;

}  // namespace

bool Silence::lasts(Clock::duration limit, Clock::time_point now, std::uint64_t octets) {
  const Clock::duration since = now - std::exchange(last_look_, now).value_or(now);
  if (std::exchange(octets_, octets) != octets) {
    length_ = {};
    return false;
  }
  const Clock::duration longest = std::min<Clock::duration>(kLongestStep, limit / kFewestLooks);
  length_ += std::clamp(since, Clock::duration{}, longest);
  return length_ >= limit;
}

}  // namespace iwarp::cli::file_service
