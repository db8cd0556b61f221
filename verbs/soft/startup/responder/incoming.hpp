#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/startup/responder/responder_session.hpp"
#include "soft/startup/startup.hpp"

namespace iwarp::verbs::soft {

/// The user's handle, and what it does for devices without descriptors.
class SoftIncoming : public provider::IncomingConnection {
 public:
  /// reject_and_keep() in terms of the stream device. `keep` is called on the executor.
  virtual Outcome<void> reject_and_keep_connection(ConstBytes private_data, KeepHandler keep) = 0;
};

/// Makes the user's handle of a session that has its Request. On the executor; the handle may be
/// used on any thread. It owns the session until it is answered.
std::unique_ptr<provider::IncomingConnection> make_incoming(
    std::shared_ptr<tcp_offload::Device> device, std::shared_ptr<ResponderSession> session,
    const AsResponder& as_responder);

}  // namespace iwarp::verbs::soft
