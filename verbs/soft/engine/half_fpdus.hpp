#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// How much the halves of FPDUs may take that have been received of all connections together, in
/// octets. Waiting for the rest is the ULP's business (RFC 5044 §7.1.2), as long as there is room.
struct HalfFpduLimits {
  std::ptrdiff_t enough = std::ptrdiff_t{64} << 20;  ///< With so much room is short,
  std::ptrdiff_t most = std::ptrdiff_t{256} << 20;   ///< and with so much it has run out.
  /// While room is short, those go whose rest has not come for so long; when it has run out, any.
  std::chrono::milliseconds patience{250};
};

/// Counts them. Any thread.
class HalfFpduLedger final : public HalfFpduRoom {
 public:
  /// Calls `on_short`, if there is one, each time that room becomes short.
  explicit HalfFpduLedger(std::function<void()> on_short = {}, const HalfFpduLimits& limits = {})
      : limits_(limits), on_short_(std::move(on_short)) {}

  void account(std::ptrdiff_t octets) override {
    if (octets == 0) return;
    const std::ptrdiff_t before = octets_.fetch_add(octets);
    const bool short_now = before < limits_.enough && before + octets >= limits_.enough;
    if (short_now && on_short_) on_short_();
  }
  [[nodiscard]] bool has_room() const override { return octets() < limits_.enough; }
  [[nodiscard]] std::ptrdiff_t octets() const { return octets_.load(); }
  [[nodiscard]] bool has_run_out() const { return octets() >= limits_.most; }
  [[nodiscard]] const HalfFpduLimits& limits() const { return limits_; }

 private:
  const HalfFpduLimits limits_;
  const std::function<void()> on_short_;
  std::atomic<std::ptrdiff_t> octets_{0};
};

/// Makes room where it is short, by the end of connections: of those whose peers' address holds the
/// most the one that has waited longest for the rest, again and again. Those that are not looked at
/// go on as if there were room. `now` is running time. The engine's thread.
void make_room(std::span<const std::shared_ptr<Driven>> among, const HalfFpduLedger& ledger,
               std::chrono::steady_clock::time_point now);

}  // namespace iwarp::verbs::soft
