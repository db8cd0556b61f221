#include "file_service/wire/life_signs.hpp"

namespace iwarp::cli::file_service {
namespace {

constexpr std::chrono::milliseconds kShortestInterval{500};
/// So many signs under way lengthen the interval by the shortest one, to 8 s in the end.
constexpr std::uint32_t kSignsPerStep = 8;
/// Octets worth a sign. Far more than a sign has: two ends that have nothing but signs to tell each
/// other fall silent, and see that nothing moves.
constexpr std::uint64_t kWorthTelling = 256;

}  // namespace

bool LifeSigns::due(Clock::time_point now, const Traffic& traffic) {
  if (traffic.sent != sent_) {
    told(now, traffic);  // by what was sent
    return false;
  }
  if (traffic.signs >= kMost || traffic.received - received_ < kWorthTelling) return false;
  if (now - last_ < kShortestInterval * (1 + traffic.signs / kSignsPerStep)) return false;
  told(now, traffic);
  return true;
}

void LifeSigns::told(Clock::time_point now, const Traffic& traffic) {
  last_ = now;
  received_ = traffic.received;
  sent_ = traffic.sent;
}

}  // namespace iwarp::cli::file_service
