#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "core/uses.hpp"
#include "events/async.hpp"
#include "iwarp/verbs/provider.hpp"
#include "shared/stats.hpp"
#include "work/qp_batch.hpp"

/// Queue pairs of the C interface.
namespace iwarp::compat {

/// How many Reads and atomics a connection has under way at a time, by this side and by the peer.
struct Depths {
  std::uint16_t ord = 0, ird = 0;
};

/// A depth as the interface has it, in one octet.
inline std::uint8_t octet_of(std::uint16_t depth) {
  return static_cast<std::uint8_t>(depth < UINT8_MAX ? depth : UINT8_MAX);
}

/// Passes the events of a queue pair's connection to what manages that at the time. Thread-safe.
class QpEvents {
 public:
  /// `handler` is called by one thread at a time, and not any more when another has taken its
  /// place.
  void listen(std::function<void(const verbs::ConnectionEvent&)> handler);
  /// A connection is about to be made: false if there is one, or has been. Or it could not be
  /// begun.
  [[nodiscard]] bool start();
  void do_not_start();
  void operator()(const verbs::ConnectionEvent& event);
  /// The queue pair is being destroyed: a connection is over, one that was being made has failed,
  /// and nothing more is told.
  void end();
  /// Of the connection, once there has been one.
  [[nodiscard]] Depths depths() const;

 private:
  enum class Phase : std::uint8_t { kNone, kStarted, kEstablished, kOver };

  mutable std::mutex mutex_;
  Depths depths_;
  Phase phase_ = Phase::kNone;
  std::function<void(const verbs::ConnectionEvent&)> handler_;
};

struct Qp {
  /// Both views of a queue pair that the interface has: the longer one begins like the shorter.
  union Shown {
    ibv_qp_ex extended;
    ibv_qp plain;
  } shown{};
  std::shared_ptr<verbs::provider::Qp> core;
  std::shared_ptr<QpEvents> events = std::make_shared<QpEvents>();
  std::shared_ptr<QpStats> stats;  ///< If the user wants them.
  Use pd, send_cq, recv_cq, srq;
  std::optional<AsyncRoute> route;
  std::unique_ptr<QpBatch> batch;  ///< Of ibv_wr_start() and its like, if they were asked for.
  bool signals_all = false;
  bool without_cm = false;  ///< The program connects it: by ibv_modify_qp(), not the manager.

  /// It meets its peer, and has sent nothing yet.
  std::atomic<bool> silent{false};

  std::mutex mutex;
  ibv_qp_attr attributes{};  ///< What ibv_modify_qp() has set.
  /// What it has said of the peer. It counts where the program connects the queue pair: the manager
  /// grants what it has to (rdma_init_qp_attr()), and programs set nothing before that.
  std::optional<verbs::Access> allowed;

  [[nodiscard]] ibv_qp_state state() const;
};

inline Qp& qp_of(ibv_qp* shown) { return *reinterpret_cast<Qp*>(shown); }

/// The queue pair with a number, if the program has one.
inline ibv_qp* find_qp(std::uint32_t number) {
  return static_cast<ibv_qp*>(find_element(Element::kQp, number));
}

/// Whether a program that keeps a queue pair in its id has not destroyed it.
inline bool is_there(const ibv_qp* qp) { return has_element(Element::kQp, qp); }

/// Queue pairs of the connection manager; else as ibv_create_qp() and ibv_create_qp_ex().
ibv_qp* create_managed_qp(ibv_pd* pd, ibv_qp_init_attr* attributes);
ibv_qp* create_managed_qp_ex(ibv_qp_init_attr_ex* attributes);

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
/// Before a queue pair sends: if it has to meet its peer yet, that must come in time.
void expect_peer(Qp& qp);
int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* request);

}  // namespace iwarp::compat
