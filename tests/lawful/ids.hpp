#pragma once

#include <utility>

#include "lawful/polling.hpp"

namespace iwarp::lawful {

/// An IPv4 or IPv6 address and a port.
struct SocketAddress {
  sockaddr_storage storage{};
  sockaddr* plain() { return reinterpret_cast<sockaddr*>(&storage); }
};

inline SocketAddress address(const char* text, std::uint16_t port = 0) {
  SocketAddress made;
  auto& v4 = reinterpret_cast<sockaddr_in&>(made.storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(made.storage);
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  } else {
    must(::inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 ? 0 : EINVAL, text);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
  }
  return made;
}

/// An id of the connection manager; its calls wait unless it has a channel.
class Id {
 public:
  explicit Id(rdma_event_channel* channel = nullptr) {
    must(rdma_create_id(channel, &id_, nullptr, RDMA_PS_TCP), "rdma_create_id");
  }
  explicit Id(rdma_cm_id* taken) : id_(taken) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, nullptr)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() {
    if (id_ != nullptr) rdma_destroy_ep(id_);
  }
  [[nodiscard]] rdma_cm_id* get() const { return id_; }
  /// Leaves it to the caller.
  rdma_cm_id* release() { return std::exchange(id_, nullptr); }
  rdma_cm_id* operator->() const { return id_; }

 private:
  rdma_cm_id* id_ = nullptr;
};

}  // namespace iwarp::lawful
