#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "iwarp/mpa/initiator.hpp"
#include "iwarp/mpa/responder.hpp"
#include "iwarp/tcp_offload/device.hpp"
#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/startup/streaming_connection.hpp"

/// The start-up of connections over a stream device: TCP, then MPA's Request and Reply, then the
/// hand-over to RDMA mode (RFC 5044 §7.1, RFC 6581). Everything here runs on the device's executor
/// unless it says otherwise. Handlers are called on the executor, one at a time and without any
/// lock held; they may destroy every object made here. Time-outs count the time in which this
/// process ran, and pass only when what the peer has sent has been read (PatientTimer).
namespace iwarp::verbs::soft {

/// The most RDMA Reads that a connection holds (IRD) or issues (ORD). A peer may raise the IRD up
/// to here; one that needs more is refused.
inline constexpr std::uint16_t kMaxReadRequests = 128;

/// How long the user may take to answer an incoming connection. Then it is rejected, and accepting
/// it fails with ETIMEDOUT.
inline constexpr std::chrono::seconds kDecisionTimeout{60};

enum class Role { kInitiator, kResponder };

/// A connection that has come through its start-up: Full Operation begins.
struct RdmaMode {
  std::unique_ptr<tcp_offload::Stream> stream;
  Role role = Role::kInitiator;
  mpa::Agreed agreed;  ///< What holds on the wire.
  /// What of agreed.modes the stream's device does, which has been told them.
  tcp_offload::Offloads offloads{};
  /// Initiator: the RTR indication to send before anything else. A responder gets one as the first
  /// FPDU if agreed.model is kPeerToPeer.
  mpa::Rtr rtr = mpa::Rtr::kNone;
  /// What the user is told: both endpoints, the peer's private data and the values in force.
  ConnectionInfo info;
  /// The listener's, if it has one; else the queue pair's counts.
  std::optional<Liveness> liveness;
  /// Octets that the stream lends first: read before MPA, they show on no descriptor.
  std::size_t already_read = 0;
};

/// A rejecting Reply was sent or received; the TCP connection is closed or here.
struct StartupRejected {
  std::vector<std::byte> private_data;    ///< The peer's.
  std::optional<std::uint16_t> ird, ord;  ///< The peer's, if it stated them.
  /// What is left open, if AfterRejection::kGiveBack was asked for; otherwise there is none.
  StreamingConnection kept{};
  /// Why, if it was this end that had to reject. Without kGiveBack that is an Error instead.
  std::optional<Error> refused_here{};
};

/// How a start-up ended. An Error has been made for the user: it names the peer and the reason.
/// Its code is of the generic category: the system's for TCP (ECONNREFUSED, EHOSTUNREACH, …),
/// ETIMEDOUT for a time-out, ECONNRESET for a connection that the peer closed or reset, EPROTO for
/// what is not MPA or does not suit, ENOBUFS for more RDMA Reads than kMaxReadRequests.
using StartupResult = std::variant<RdmaMode, StartupRejected, Error>;
using StartupHandler = std::function<void(StartupResult)>;

/// A start-up under way; belongs to the caller that asked for it. Destruction cancels. It is
/// destroyed before the device.
class Startup {
 public:
  virtual ~Startup() = default;
  /// Gives the start-up up; any thread, any number of times. Does not wait: the TCP connection is
  /// closed by the executor soon afterwards. Called on the executor: the handler is not called any
  /// more. Called elsewhere: if the handler's call has not begun it is not called any more, or else
  /// that one call may still be running when this returns. No effect once the handler was called.
  virtual void cancel() = 0;
};

/// Starts to connect; may be called from any thread. The handler is called exactly once on the
/// executor, possibly before this returns, unless it is cancelled or the executor ends. What it
/// captured is destroyed there too, right after its call or soon after cancel(). It must not own
/// the Startup. Errors at once: EINVAL with too much private data, IRD or ORD beyond
/// kMaxReadRequests, or an unknown revision.
///
/// `options.timeout` is for everything together. If a Request of revision 2 is answered by nothing
/// but the end of the connection, revision 1 is tried once on a new one, unless
/// `options.fall_back` forbids it. Revision 1 is not peer-to-peer, as RdmaMode::agreed shows.
Outcome<std::unique_ptr<Startup>> start_connect(tcp_offload::Device& device, const Endpoint& to,
                                                const ConnectOptions& options,
                                                StartupHandler handler);

/// What an incoming connection needs from the queue pair that takes it.
class ResponderQp {
 public:
  virtual ~ResponderQp() = default;
  /// Reserves an idle queue pair for a start-up: it is connecting from here on. False if it is not
  /// idle. Any thread.
  virtual bool begin_startup() = 0;
  /// Ends the start-up begun: RdmaMode, an Error, or a rejection by this end (refused_here). Called
  /// exactly once on the executor after begin_startup() has said yes, unless the executor ends
  /// before. The caller owns the queue pair meanwhile: the program may destroy it in its handler.
  virtual void finish_startup(StartupResult result) = 0;
  /// The directory in which the connection is to be recorded, start-up included; empty: nowhere.
  [[nodiscard]] virtual std::string capture() const { return {}; }
};

/// The queue pair's side that takes incoming connections; null if it is another device's. Called
/// from any thread.
using AsResponder =
    std::function<std::shared_ptr<ResponderQp>(const std::shared_ptr<provider::Qp>&)>;

/// Listens; may be called from any thread. `device` is kept by the listener and by each incoming
/// connection; its executor stays on one thread. Errors at once: what the system says about the
/// address.
///
/// Connections. A TCP connection that does not bring a whole, valid MPA Request within
/// `options.request_timeout` is closed without a Reply; `options.on_no_request` is told why. While
/// `options.max_half_open` of them are under way no more are accepted: further ones wait in the
/// system's backlog.
///
/// The handler gets each request on the executor. The IncomingConnection may be used and destroyed
/// on any thread, and stays good after the listener's end. Its info() holds the endpoints and what
/// the peer asked for: private data, IRD and ORD (0 if not stated), revision, CRC, and in
/// markers_sent whether it wants to receive markers. accept() ignores the options that the peer
/// decides (revision, peer-to-peer, fall-back); `timeout` bounds the sending of the Reply. A wrong
/// queue pair or wrong options are EINVAL, one that is not idle EISCONN, a second answer EALREADY:
/// the request is then still to be answered, except after the last. Where it has been noticed that
/// the peer has gone, or that kDecisionTimeout has passed, accept() and reject() fail with the
/// reason, and the queue pair is as it was. Every other failure arrives at finish_startup(): the
/// peer goes meanwhile, or wants to issue more RDMA Reads than kMaxReadRequests, which rejects it.
/// After a rejection the connection is closed such that the Reply arrives, or given back if that
/// was asked for.
///
/// The listener's destruction, on any thread, closes the listening socket and the connections that
/// have not brought a whole request; no call of its handlers begins any more, and a request that
/// would have been the next is rejected. On a thread that is no device's own it returns when a call
/// that is running has returned, however long that takes: so it must not be destroyed under a lock
/// that a handler takes. On another thread than the executor's it also waits for the socket's end,
/// for a second at most: the port is free then unless something else kept the executor busy.
Outcome<std::shared_ptr<provider::Listener>> start_listen(
    std::shared_ptr<tcp_offload::Device> device, const Endpoint& at,
    const provider::ListenOptions& options, provider::IncomingHandler handler,
    AsResponder as_responder);

}  // namespace iwarp::verbs::soft
