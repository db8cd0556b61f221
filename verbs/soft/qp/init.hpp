#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "iwarp/connection/deadlines.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/memory_registry.hpp"
#include "soft/queues/shared_receive_queue.hpp"
#include "soft/queues/soft_cq.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// What a queue pair is made with; what it has in common with QpOptions is documented there.
struct SoftQpInit {
  std::shared_ptr<const Services> services;
  tcp_offload::Device* device = nullptr;  ///< For connect(); may be null.
  std::shared_ptr<SoftPd> pd;
  std::shared_ptr<SoftCq> send_cq, recv_cq;
  std::shared_ptr<SoftSrq> srq;  ///< May be null.
  QpCapacity capacity;
  Signaling signaling = Signaling::kPerRequest;
  ConnectionHandler on_event;
  std::uint32_t number = 0;
  bool connectionless = false;
  bool flushes_late_posts = false;
  std::chrono::milliseconds receive_wait{0};
  SourceBuffers source_buffers = SourceBuffers::kMayChange;
  std::uint32_t max_fpdu = 0;
  /// In running time (RunningClock). None passes before the socket has been read and had nothing
  /// more. How long it may be idle is the liveness'.
  connection::Patience patience{};
  Liveness liveness{};
  std::string capture;  ///< Where to record a connection that is accepted; empty: nowhere.
};

}  // namespace iwarp::verbs::soft
