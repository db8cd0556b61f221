#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "iwarp/tcp_offload/kernel_device.hpp"

namespace iwarp::tcp_offload::kernel {

/// A timer of the steady clock.
class KernelTimer final : public Timer {
 public:
  explicit KernelTimer(boost::asio::io_context& context);

  void async_wait(std::chrono::nanoseconds delay, TimerHandler handler) override;
  void cancel() override;

 private:
  boost::asio::steady_timer timer_;
  // Which wait is the current one. Handlers hold it weakly: it is gone when the timer is.
  const std::shared_ptr<unsigned> current_ = std::make_shared<unsigned>(0U);
};

}  // namespace iwarp::tcp_offload::kernel
