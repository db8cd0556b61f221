#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "program.hpp"

namespace iwarp::tcp_offload::sim {

/// A timer of the virtual clock.
class SimTimer final : public Timer {
 public:
  SimTimer(Schedule& schedule, Program& program) : schedule_(schedule), program_(program) {}
  ~SimTimer() override;

  void async_wait(Nanoseconds delay, TimerHandler handler) override;
  void cancel() override;

 private:
  // The wait that is pending, if it has a handler. Tasks hold it weakly: it is gone when the timer
  // is.
  struct Wait {
    unsigned number = 0;
    TimerHandler handler;
  };

  Schedule& schedule_;
  Program& program_;
  Schedule::Id wait_;
  const std::shared_ptr<Wait> waiting_ = std::make_shared<Wait>();
};

}  // namespace iwarp::tcp_offload::sim
