#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "iwarp/verbs/endpoint.hpp"
#include "rdma_core.hpp"

namespace iwarp::rnic {

/// The two ends of a connection, as its identifier has them.
verbs::Endpoint local_of(rdma_cm_id* id);
verbs::Endpoint remote_of(rdma_cm_id* id);

/// Sets an option of an identifier. As rdma_set_option().
template <typename Value>
int set_option(const RdmaCore& core, rdma_cm_id* id, int which, Value value) {
  return core.rdma_set_option(id, RDMA_OPTION_ID, which, &value, sizeof value);
}

/// One end of a connection that librdmacm makes, or a listener of it. Owns its identifier.
class CmId {
 public:
  CmId() = default;
  CmId(const RdmaCore& core, rdma_cm_id* id) : core_(&core), id_(id) {}
  CmId(CmId&& other) noexcept : core_(other.core_), id_(std::exchange(other.id_, nullptr)) {}
  CmId& operator=(CmId&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~CmId() {
    if (id_ != nullptr) core_->rdma_destroy_id(id_);
  }

  [[nodiscard]] rdma_cm_id* get() const { return id_; }
  explicit operator bool() const { return id_ != nullptr; }

 private:
  const RdmaCore* core_ = nullptr;
  rdma_cm_id* id_ = nullptr;
};

/// What librdmacm has said, copied: its own event has been acknowledged.
struct CmEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_CONNECT_ERROR;
  int status = 0;
  rdma_cm_id* id = nullptr;       ///< Of CONNECT_REQUEST a new one, which is its taker's.
  std::uint8_t ird = 0, ord = 0;  ///< Inbound and outbound Reads, as this side sees them.
  std::vector<std::byte> private_data;
};

/// Gets the events of the identifiers that it has made known to a CmLoop.
class CmTarget {
 public:
  virtual ~CmTarget() = default;
  /// On the loop's thread; no other call runs meanwhile.
  virtual void on_cm_event(CmEvent event) = 0;
};

}  // namespace iwarp::rnic
