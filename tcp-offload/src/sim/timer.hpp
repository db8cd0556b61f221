#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "sim/schedule.hpp"

namespace iwarp::tcp_offload::sim {

/// A timer of the virtual clock.
class SimTimer final : public Timer {
 public:
  explicit SimTimer(Schedule& schedule) : schedule_(schedule) {}
  ~SimTimer() override;

  void async_wait(Nanoseconds delay, TimerHandler handler) override;
  void cancel() override;

 private:
  Schedule& schedule_;
  Schedule::Id wait_;
  // The handler of the wait that is pending. Tasks hold it weakly: it is gone when the timer is.
  const std::shared_ptr<TimerHandler> waiting_ = std::make_shared<TimerHandler>();
};

}  // namespace iwarp::tcp_offload::sim
