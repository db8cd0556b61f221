#pragma once

#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/startup/responder/responder_session.hpp"
#include "soft/startup/session.hpp"
#include "soft/startup/startup.hpp"
#include "soft/startup/streaming_connection.hpp"

namespace iwarp::verbs::soft {

/// Waits for the Request of one connection that its program has used before: for this one what the
/// listener is for those it accepts.
class AdoptedResponder final
    : public RequestSink,
      public Session<Outcome<std::unique_ptr<provider::IncomingConnection>>> {
 public:
  AdoptedResponder(std::shared_ptr<tcp_offload::Device> device, StreamingConnection streaming,
                   provider::AwaitOptions options, provider::AwaitHandler handler,
                   AsResponder as_responder);

  void on_request(ResponderSession& session) override;
  void on_no_request(ResponderSession& session) override;

 private:
  void begin() override;
  void drop() override;

  const std::shared_ptr<tcp_offload::Device> device_;
  StreamingConnection streaming_;  // until start()
  provider::AwaitOptions options_;
  const AsResponder as_responder_;
  std::shared_ptr<ResponderSession> session_;
};

}  // namespace iwarp::verbs::soft
