#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "soft/qp/halves/halves.hpp"
#include "soft/qp/parts.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

/// A queue pair from idle to RDMA mode, or to the failure of its start-up. What it tells the
/// program it tells on the executor. Any thread.
class QpStartUp final : public ResponderQp {
 public:
  QpStartUp(QpParts& parts, QpHalves& halves) : parts_(parts), halves_(halves) {}
  ~QpStartUp() override;
  QpStartUp(const QpStartUp&) = delete;
  QpStartUp& operator=(const QpStartUp&) = delete;

  // ResponderQp
  bool begin_startup() override;
  void finish_startup(StartupResult result) override;
  [[nodiscard]] std::string capture() const override { return parts_.init.capture; }

  using StartInitiator = std::function<Outcome<std::unique_ptr<Startup>>(StartupHandler)>;
  /// Begins as initiator by `start`. Errors: EISCONN if the queue pair is not idle, those of
  /// `start`; then it is as before.
  Outcome<void> begin(const StartInitiator& start);
  /// Gives the start-up up. False if there is none any more that could fail.
  bool abort();
  /// Whether requests may be posted before there is a connection.
  [[nodiscard]] bool takes_early_posts() const { return parts_.connectionless || accepted_.load(); }

 private:
  bool claim();
  void cancel();
  void conclude(StartupResult result);
  void enter_rdma_mode(RdmaMode mode);
  void watch_peer(const RdmaMode& mode) const;
  std::error_code attach_to_queues();
  bool fail(const Error& error);
  bool fail(Diagnosis why);
  bool tell(const ConnectionEvent& event);
  void tell_failure(const ConnectionEvent& event);
  void end_silence();

  QpParts& parts_;
  QpHalves& halves_;
  std::atomic<bool> accepted_{false};  // the program has said yes to a peer
  Mutex mutex_;
  std::unique_ptr<Startup> startup_ IWARP_GUARDED_BY(mutex_);
};

}  // namespace iwarp::verbs::soft
