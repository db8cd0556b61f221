#pragma once

#include <string>

#include "iwarp/tcp_offload/device.hpp"
#include "soft/services.hpp"

namespace iwarp::verbs::soft {

/// What the software provider stands on: the runtime, with threads and sockets; in tests a host of
/// a simulated network, with none. What is made from it keeps it alive.
class Platform {
 public:
  virtual ~Platform() = default;
  /// What queue pairs and completion queues are made with.
  [[nodiscard]] virtual const Services& services() const = 0;
  /// The stream device for listeners and adopted sockets.
  [[nodiscard]] virtual tcp_offload::Device& device() = 0;
  /// That of a queue pair whose connections are to be recorded into this directory; device() itself
  /// if it is empty, or if nothing can be recorded. Thread-safe.
  [[nodiscard]] virtual tcp_offload::Device& device(const std::string& capture) = 0;
  /// As provider::Provider::finish().
  virtual void finish() = 0;
};

}  // namespace iwarp::verbs::soft
