#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "iwarp/base/deadline.hpp"
#include "iwarp/tcp_offload/device.hpp"

namespace iwarp::verbs::soft {

/// A deadline of a start-up. Its time is that in which this process ran; and before its handler is
/// called the executor has had the sockets once more, so that an answer that lies there counts,
/// however long the executor has not come to read it. On the executor.
class PatientTimer {
 public:
  explicit PatientTimer(tcp_offload::Device& device);

  /// Calls `handler` once `timeout` has passed in silence, or when there is no memory to wait on.
  /// Replaces a wait that is pending. The handler may destroy this. Throws std::bad_alloc.
  void start(std::chrono::nanoseconds timeout, tcp_offload::Handler<> handler);

 private:
  using SharedHandler = std::shared_ptr<tcp_offload::Handler<>>;
  using Then = void (PatientTimer::*)(const SharedHandler&);

  void wait(std::chrono::nanoseconds step, Then then, SharedHandler handler);
  void go_on(std::chrono::nanoseconds step, Then then, const SharedHandler& handler);
  void look(const SharedHandler& handler);
  void look_again(const SharedHandler& handler);

  tcp_offload::Device& device_;
  std::optional<Deadline> deadline_;
  const std::unique_ptr<tcp_offload::Timer> timer_;
};

}  // namespace iwarp::verbs::soft
