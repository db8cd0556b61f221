#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "iwarp/mpa/responder.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/connection.hpp"
#include "soft/startup/patient_timer.hpp"
#include "soft/startup/startup.hpp"
#include "soft/startup/streaming_connection.hpp"

namespace iwarp::verbs::soft {

class ResponderSession;

/// How a session begins on a connection that was used in streaming mode before.
struct StreamingStart {
  std::vector<std::byte> last_message;  ///< Sent first, before what came is looked at.
  std::vector<std::byte> already_read;
};

/// Gets the connection after a rejection, or why there is none.
using KeepHandler = std::function<void(Outcome<StreamingConnection>)>;

/// Is told of the Requests of connections.
class RequestSink {
 public:
  /// The Request is whole and valid. The session no longer refers to the sink.
  virtual void on_request(ResponderSession& session) = 0;
  /// There will be none: the session is over.
  virtual void on_no_request(ResponderSession& session) = 0;

 protected:
  ~RequestSink() = default;
};

/// The responder's side of one start-up: reads the Request, waits for the user's decision, sends
/// the Reply. Belongs to the executor, where its owner (the listener) may destroy it before the
/// Request is there. From then on it lives until the Reply is done with, or the peer has gone.
class ResponderSession : public std::enable_shared_from_this<ResponderSession> {
 public:
  /// `sink` lives until it was told. `liveness` goes with the connection into RDMA mode.
  ResponderSession(tcp_offload::Device& device, std::unique_ptr<tcp_offload::Connection> connection,
                   RequestSink& sink, std::optional<Liveness> liveness = {});

  /// Waits for the Request, up to `timeout`. The sink is told later, or never if this is destroyed.
  void start(std::chrono::milliseconds timeout, StreamingStart streaming = {});

  /// Ends the wait for the Request, since others need what this holds. Precondition: there is none
  /// yet.
  void make_room();

  /// What the peer asked for, and the most private data of a Reply. Preconditions: the sink has
  /// been told of the Request, and there is no answer yet.
  [[nodiscard]] ConnectionInfo info() const;
  [[nodiscard]] std::size_t max_private_data() const { return responder_.max_private_data(); }
  /// Why there is no Request. Precondition: the sink is being told so.
  [[nodiscard]] const Error& failure() const { return failure_; }
  /// Why the Request cannot be answered any more: the peer has gone, or the time for it has passed.
  /// Null as long as that has not been noticed. Any thread.
  [[nodiscard]] const Error* withdrawn() const { return withdrawn_.load() ? &failure_ : nullptr; }

  /// Answers; one of the two, once. `options` have been checked. The outcome is `qp`'s, or
  /// `keep`'s: without that one the connection is closed.
  void accept(std::shared_ptr<ResponderQp> qp, ConnectOptions options);
  void reject(std::vector<std::byte> private_data, KeepHandler keep = {});

 private:
  enum class Phase { kRequest, kDeciding, kAnswering, kOver };

  /// A step that throws, for lack of memory, is the end of the session.
  template <typename Step>
  void attempt(Step step);
  void give_up(const std::exception& thrown);
  void wait_up_to(std::chrono::milliseconds timeout);
  /// The same; and meanwhile the timer owns this.
  void stay_up_to(std::chrono::milliseconds timeout);
  void read();
  void take(ConstBytes octets, std::error_code error);
  void decide();
  void answer_after_reading(std::chrono::milliseconds timeout);
  void answer();
  void on_written(const std::optional<mpa::Agreed>& agreed);
  void enter_rdma_mode(const mpa::Agreed& agreed);
  void on_timeout();
  void on_lost(std::error_code error);
  void fail(mpa::Error reason);
  void give_back(Error why);
  void end(StartupResult result);
  void report(StartupResult result);
  [[nodiscard]] std::string what_failed() const;

  tcp_offload::Device& device_;
  RequestSink& sink_;
  mpa::Responder responder_;
  Phase phase_ = Phase::kRequest;
  const Endpoint local_, remote_;
  const std::optional<Liveness> liveness_;

  // The answer: accepted if there is a queue pair.
  std::shared_ptr<ResponderQp> qp_;
  ConnectOptions options_;
  KeepHandler keep_;
  Error failure_;  // what an answer that comes too late reports; stays as it is once withdrawn_
  std::atomic<bool> withdrawn_{false};

  std::error_code lost_;  // why the connection was lost, if it was
  StreamingStart streaming_;
  std::array<std::byte, mpa::kMaxStartupFrameSize> scratch_;

  // Last: what goes on in the memory above ends first.
  std::unique_ptr<tcp_offload::Connection> connection_;
  std::optional<PatientTimer> timer_;
};

}  // namespace iwarp::verbs::soft
