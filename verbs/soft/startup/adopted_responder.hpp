#pragma once

#include <atomic>
#include <memory>

#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/startup/responder_session.hpp"
#include "soft/startup/startup.hpp"
#include "soft/startup/streaming_connection.hpp"

namespace iwarp::verbs::soft {

/// Waits for the Request of one connection that its program has used before: for this one what the
/// listener is for those it accepts. Belongs to the executor, apart from cancel(). Its owner keeps
/// it until the handler was called, or release() was.
class AdoptedResponder final : public RequestSink,
                               public std::enable_shared_from_this<AdoptedResponder> {
 public:
  AdoptedResponder(std::shared_ptr<tcp_offload::Device> device, StreamingConnection streaming,
                   provider::AwaitOptions options, provider::AwaitHandler handler,
                   AsResponder as_responder);

  /// Begins, unless it was cancelled before.
  void start();
  /// Makes sure that the handler will not be called; any thread. True if it has done so: then
  /// release() is to follow. False if the handler is called, or cancel() was.
  bool cancel();
  /// Closes the connection and frees everything.
  void release();

  void on_request(ResponderSession& session) override;
  void on_no_request(ResponderSession& session) override;

 private:
  enum class Phase { kRunning, kCancelled, kReported };

  void finish(Outcome<std::unique_ptr<provider::IncomingConnection>> result);

  const std::shared_ptr<tcp_offload::Device> device_;
  StreamingConnection streaming_;  // until start()
  provider::AwaitOptions options_;
  provider::AwaitHandler handler_;
  const AsResponder as_responder_;
  std::atomic<Phase> phase_{Phase::kRunning};
  std::shared_ptr<ResponderSession> session_;
};

}  // namespace iwarp::verbs::soft
