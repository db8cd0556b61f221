#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/host.hpp"
#include "soft/memory_registry.hpp"
#include "soft/shared_receive_queue.hpp"
#include "soft/soft_cq.hpp"

namespace iwarp::verbs::soft {

/// The time-outs of a connection in RDMA mode, in running time (RunningClock). None of them passes
/// before the socket has been read and had nothing more.
struct QpTimeouts {
  std::chrono::milliseconds first_fpdu{10'000};  ///< Responder: from its Reply to the peer's RTR.
  std::chrono::milliseconds linger = kDefaultLinger;  ///< As in QpOptions.
  std::chrono::milliseconds unreachable{1'000};  ///< Connectionless: from the peer's end to ours.
};

/// What a queue pair is made with; what it has in common with QpOptions is documented there.
struct SoftQpInit {
  std::shared_ptr<Host> host;
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
  QpTimeouts timeouts;
  Liveness liveness{};
  std::string capture;  ///< Where to record a connection that is accepted; empty: nowhere.
};

}  // namespace iwarp::verbs::soft
