#pragma once

#include <memory>
#include <utility>

#include "iwarp/tcp_offload/device.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

/// What its user holds of a session that begins with start(). Once the session's cancel() has said
/// no, the device is not used.
template <typename Session>
class SessionStartup final : public Startup {
 public:
  SessionStartup(tcp_offload::Device& device, std::shared_ptr<Session> session)
      : device_(device), session_(std::move(session)) {}
  ~SessionStartup() override { SessionStartup::cancel(); }

  void cancel() override {
    if (!session_->cancel()) return;
    device_.post([session = session_] { session->release(); });
  }

 private:
  tcp_offload::Device& device_;
  const std::shared_ptr<Session> session_;
};

/// Lets a session begin on the executor.
template <typename Session>
std::unique_ptr<Startup> begin_session(tcp_offload::Device& device,
                                       std::shared_ptr<Session> session) {
  auto startup = std::make_unique<SessionStartup<Session>>(device, session);
  device.post([session = std::move(session)] { session->start(); });
  return startup;
}

}  // namespace iwarp::verbs::soft
