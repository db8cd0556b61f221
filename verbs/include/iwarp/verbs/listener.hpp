#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/provider.hpp"

/// The passive side: peers that ask to connect, and the answers. Part of verbs.hpp, which says what
/// goes for all handles.
namespace iwarp::verbs {

using provider::KeptHandler;

class QueuePair;

/// A peer that asks to connect. Destroyed unanswered it is rejected.
class IWARP_API ConnectionRequest {
 public:
  /// The peer's; valid as long as this object.
  [[nodiscard]] ConstBytes private_data() const { return core_->info().private_data; }
  /// What the peer stated; what both agree on is settled by accept().
  [[nodiscard]] const ConnectionInfo& info() const { return core_->info(); }
  /// Answers yes and waits until the connection is established: until the answer is with TCP. The
  /// peer's first message may come at any time, or never.
  Outcome<ConnectionInfo> accept(QueuePair& qp, const ConnectOptions& options = {});
  /// Answers yes without waiting: the outcome goes to the queue pair's handler. If the peer wants
  /// more Reads than the device holds, it is rejected, and the queue pair has failed. Errors at
  /// once, which leave the queue pair as it is: EISCONN if it is not idle, EINVAL for the options,
  /// EALREADY; ECONNRESET, EPROTO or ETIMEDOUT if the peer has gone, has not kept to MPA, or has
  /// waited for more than a minute, and that was noticed before.
  Outcome<void> start_accept(QueuePair& qp, const ConnectOptions& options = {});
  /// Answers no, with up to 508 octets of private data; then the TCP connection is closed. Errors:
  /// EINVAL for the private data, EALREADY; as start_accept() if the peer has gone.
  Outcome<void> reject(ConstBytes private_data = {}) { return core_->reject(private_data); }
  /// Answers no and returns the TCP connection, in streaming mode again (RFC 5044 §7.1.2 rule 2).
  /// Waits until the answer is with TCP, ten seconds at most. After an Error it is closed, unless
  /// nothing was answered (EINVAL for the private data, EALREADY).
  Outcome<StreamingSocket> reject_and_keep(ConstBytes private_data = {});
  /// The same without waiting: the handler gets what the other returns.
  Outcome<void> start_reject_and_keep(ConstBytes private_data, KeptHandler handler) {
    return core_->reject_and_keep(private_data, std::move(handler));
  }

 private:
  friend class Listener;
  friend class Device;
  explicit ConnectionRequest(std::unique_ptr<provider::IncomingConnection> core)
      : core_(std::move(core)) {}

  std::unique_ptr<provider::IncomingConnection> core_;
};

/// Gets the Request of an adopted connection, or why there is none.
using RequestHandler = std::function<void(Outcome<ConnectionRequest>)>;

/// The wait for such a Request. Destroyed before its end it closes the connection, and the handler
/// is not called any more.
class IWARP_API RequestWait {
 private:
  friend class Device;
  explicit RequestWait(std::unique_ptr<provider::RequestWait> core) : core_(std::move(core)) {}

  std::unique_ptr<provider::RequestWait> core_;
};

/// Gets the peers that ask a Listener, on a thread of the device, which it must not block: it
/// answers by start_accept(), reject() or start_reject_and_keep(), or passes the request on.
using IncomingHandler = std::function<void(ConnectionRequest)>;

/// Takes connections at an address, until it is destroyed: from then on its handlers are not called
/// any more. On a thread of the program's the destruction waits for a call that is running, however
/// long it takes, so that it must not hold a lock that a handler takes; on a device's, as inside a
/// handler, that call runs to its end. Unless a handler of something else keeps the device's thread
/// busy for more than a second, the port is free afterwards. Requests that have not been answered
/// can be answered still.
class IWARP_API Listener {
 public:
  /// Where it listens; port 0 was replaced by the one that the system chose.
  [[nodiscard]] Endpoint endpoint() const { return core_->endpoint(); }
  /// The next peer that sent a valid request and has not gone since; none when the time is over, or
  /// if a handler gets them. As many as ListenOptions::backlog wait.
  std::optional<ConnectionRequest> next(std::chrono::milliseconds timeout);

 private:
  friend class Device;
  class Inbox;
  Listener(std::shared_ptr<Inbox> inbox, std::shared_ptr<provider::Listener> core)
      : inbox_(std::move(inbox)), core_(std::move(core)) {}

  std::shared_ptr<Inbox> inbox_;
  std::shared_ptr<provider::Listener> core_;
};

}  // namespace iwarp::verbs
