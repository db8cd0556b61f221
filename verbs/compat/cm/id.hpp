#pragma once

#include <rdma/rdma_cma.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "cm/address.hpp"
#include "cm/event_channel.hpp"
#include "cm/reservation.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

struct Id;
class QpEvents;

/// Lets handlers of the stack, which may run while an id is destroyed, reach it as long as it is
/// there.
class IdLink {
 public:
  explicit IdLink(Id& id) : id_(&id) {}
  /// Calls `act` with the id, which stays meanwhile; not if it has gone.
  void with(const std::function<void(Id&)>& act) {
    const std::lock_guard lock(mutex_);
    if (id_ != nullptr) act(*id_);
  }
  void cut() {
    const std::lock_guard lock(mutex_);
    id_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Id* id_;
};

/// An identifier of the connection manager. The program's calls for one id come one after the other
/// (rdma_cm(7)); events come from the stack's threads.
struct Id {
  rdma_cm_id shown{};
  const process::Origin origin;  ///< What a forked child has inherited fails with ENODEV there.
  std::shared_ptr<IdLink> link = std::make_shared<IdLink>(*this);
  /// Of an id without a channel of the program's: its calls wait for their event.
  std::unique_ptr<EventChannel> own_channel;
  ReservationTerms reservation_terms;         ///< RDMA_OPTION_ID_REUSEADDR and _AFONLY.
  std::optional<std::uint8_t> traffic_class;  ///< RDMA_OPTION_ID_TOS.
  GivenEvents given;
  /// How far the program has come with it, as the kernel's states of an id: what a call needs that
  /// is out of order is not there, and it says EINVAL.
  enum class Step : std::uint8_t {
    kIdle,
    kBound,
    kAddressResolved,
    kRouteResolved,
    kListening,
    kRequested,  ///< It came with a peer's request.
  };
  Step step = Step::kIdle;
  bool passive = false;                   ///< It has answered a peer.
  std::optional<std::uint32_t> named_qp;  ///< Made by the program, not by rdma_create_qp().
  /// Of the queue pair, which the program may have destroyed by ibv_destroy_qp() behind our back.
  std::weak_ptr<QpEvents> followed;
  /// What has become of its connection. The program's calls change it, and the stack's threads.
  enum class Phase : std::uint8_t {
    kNone,
    kStarted,     ///< rdma_connect() or rdma_accept() has begun it.
    kEndsAtOnce,  ///< And rdma_disconnect() came before it was there.
    kFailed,      ///< It did not come about.
    kConnected,
    kEnding,  ///< rdma_disconnect() has ended it.
    kOver,
  };
  std::atomic<Phase> phase{Phase::kNone};

  Reservation reservation;
  std::shared_ptr<verbs::provider::Listener> listener;
  std::shared_ptr<Backlog> backlog;                              ///< Of one that listens.
  std::unique_ptr<verbs::provider::IncomingConnection> request;  ///< Not answered yet.
  /// What rdma_get_request() makes queue pairs from.
  std::optional<ibv_qp_init_attr> endpoint_qp;
  ibv_pd* endpoint_pd = nullptr;
  std::vector<std::byte> endpoint_data;  ///< Private data of rdma_create_ep().

  /// `channel` may be null. Throws EBADF for one that has been destroyed.
  Id(rdma_event_channel* channel, void* context, rdma_port_space space);
  /// Of a peer's request: at the listener's channel.
  explicit Id(const Id& listening, std::unique_ptr<verbs::provider::IncomingConnection> from);
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id();

  [[nodiscard]] bool waits() const { return own_channel != nullptr; }
  /// Or it was: there is, or was, a stream.
  [[nodiscard]] bool connected() const { return phase.load() >= Phase::kConnected; }
  /// Binds it to the device with a local address. 0, or ENODEV.
  int bind_to_device(const Endpoint& local);

  void report(std::unique_ptr<CmEvent> event);
  /// For an id whose calls wait: the event that the call has led to. As librdmacm returns: 0, or -1
  /// and errno.
  int complete();
  /// Throws EBADF for a channel that has been destroyed.
  void move_to(rdma_event_channel* channel);

 private:
  std::shared_ptr<CmEventQueue> events_;  // of the channel, which may go first
};

inline Id& id_of(rdma_cm_id* shown) { return *reinterpret_cast<Id*>(shown); }

}  // namespace iwarp::compat
