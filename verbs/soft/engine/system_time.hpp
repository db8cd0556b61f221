#pragma once

#include "soft/engine/running_clock.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// The system's steady clock.
class SystemTime final : public TimeSource {
 public:
  [[nodiscard]] Time now() const override { return std::chrono::steady_clock::now(); }
  Time running() override { return running_.look(now()); }

 private:
  RunningClock running_;
};

}  // namespace iwarp::verbs::soft
