#pragma once

#include <memory>
#include <optional>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/diagnosis.hpp"
#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/post_error.hpp"
#include "iwarp/verbs/types.hpp"

/// The seam below the verbs objects. A provider does the work: the software provider runs the
/// protocol cores over a stream device, a NIC's hands everything to the adapter. Objects are shared
/// pointers: a queue pair keeps its PD and CQs alive. Every call is thread-safe unless it says
/// otherwise.
namespace iwarp::verbs::provider {

/// A protection domain.
class IWARP_API Pd {
 public:
  virtual ~Pd() = default;
};

/// A registered memory region. Its destruction ends the registration, and the windows that are
/// bound to it, and waits for placements that are under way, never for a peer.
class IWARP_API Mr {
 public:
  virtual ~Mr() = default;
  /// As MemoryRegion::lkey().
  [[nodiscard]] virtual Stag lkey() const = 0;
  /// As MemoryRegion::rkey().
  [[nodiscard]] virtual Stag rkey() const = 0;
  /// Whether a memory window is bound to it.
  [[nodiscard]] virtual bool has_windows() const { return false; }
};

/// A memory window. Its destruction ends it, and waits for placements through it as that of Mr
/// does.
class IWARP_API Mw {
 public:
  virtual ~Mw() = default;
  /// What it was made as.
  [[nodiscard]] virtual WindowType type() const = 0;
  /// Its STag: of type 1 the one it was bound under last.
  [[nodiscard]] virtual Stag rkey() const = 0;
  /// The STag to bind under next. Type 1: the window has it from now on; 0 if none is free.
  virtual Stag next_rkey() = 0;
};

/// Room for a registration that work requests make and end; see RegisterWr.
class IWARP_API FastMr {
 public:
  virtual ~FastMr() = default;
  /// The STag it was made with.
  [[nodiscard]] virtual Stag stag() const = 0;
};

/// A shared receive queue.
class IWARP_API Srq {
 public:
  virtual ~Srq() = default;
  /// As SharedReceiveQueue::post_receive().
  virtual Result<void, PostError> post_receive(std::span<const RecvWr> requests) = 0;
  /// One AsyncEvent when fewer than `limit` receives are posted; 0 disarms.
  virtual Outcome<void> arm_limit(std::uint32_t limit) = 0;
  /// The limit that is armed: 0 if none is, as after its event.
  [[nodiscard]] virtual std::uint32_t limit() const = 0;
  /// Its number on the device.
  [[nodiscard]] virtual std::uint32_t number() const = 0;
};

/// Which completions raise an event: any, or only solicited and failed ones.
enum class Arm : std::uint8_t { kAny, kSolicited };

/// A completion queue.
class IWARP_API Cq {
 public:
  virtual ~Cq() = default;
  /// Takes up to `into.size()` completions; drives the sockets behind the queue if it runs short,
  /// unless the program is about to sleep on the queue's event: then the engine drives them.
  virtual std::size_t poll(std::span<Completion> into) = 0;
  /// The next matching completion raises one event.
  virtual void arm(Arm what) = 0;
  /// Blocks until a completion is there, none can come any more, or the time is over; the caller
  /// drives the sockets.
  virtual bool wait(std::chrono::milliseconds timeout) = 0;
  /// Readable exactly while an event is there that take_event() has not taken, but for those that
  /// drive_for_event() leaves to its caller.
  [[nodiscard]] virtual int event_descriptor() = 0;
  /// Takes one event; false when there is none.
  virtual bool take_event() = 0;
  /// The completions it holds.
  [[nodiscard]] virtual std::uint32_t capacity() const = 0;
  /// Its number on the device.
  [[nodiscard]] virtual std::uint32_t number() const = 0;
  /// Changes the capacity. Errors: EINVAL, also if more completions are waiting than would fit, or
  /// after an overrun.
  virtual Outcome<void> resize(std::uint32_t /*depth*/) {
    return fail(std::errc::not_supported, "completion queue: this device cannot resize it");
  }
  /// The parts of wait(), as of CompletionQueue. The default uses events: for devices that their
  /// callers do not drive.
  [[nodiscard]] virtual int wait_descriptor() { return event_descriptor(); }
  /// Whether the caller has to poll once more before it sleeps.
  virtual bool begin_wait() {
    arm(Arm::kAny);
    return true;
  }
  /// After each begin_wait().
  virtual void end_wait() { take_event(); }
  /// The parts of a sleep until there is an event, of a thread that also wakes for
  /// event_descriptor(), inside one call of the program; one thread at a time, and none in wait().
  /// Whether it is to wake for wait_descriptor() as well, and to call drive_for_event() then; if
  /// not, nothing else of these is to be called. An event may be there already. The default is for
  /// devices that their callers do not drive.
  virtual bool begin_event_wait() { return false; }
  /// Drives what is ready. An event that this raises is to be taken by the caller next, by
  /// take_event(); others are told of it by end_event_wait() only.
  virtual void drive_for_event() {}
  /// After each begin_event_wait() that said yes, by the same thread.
  virtual void end_event_wait() {}
};

/// What a shared receive queue is made with.
struct SrqOptions {
  std::uint32_t max_wr = 1024;  ///< Receives posted to it; up to DeviceAttributes::max_srq_wr.
  std::uint32_t max_sge = 4;    ///< Elements of a receive; up to DeviceAttributes::max_sge.
  /// The most receives that one QP may hold, so that one peer cannot drain the queue (RFC 5042
  /// §6.4.3.1). A Send beyond that finds no buffer. 0: no such limit.
  ///
  /// A receive counts for the QP that takes it from the first segment of its message, while its
  /// completion waits in the CQ, and while the program has its buffer, until it is posted anew. A
  /// receive that is posted ends the count of one that has been polled: of the one with the same
  /// wr_id, the first polled if several have it; if none has it, of the first polled of all. One
  /// that is still to be polled is never meant. So a peer whose messages the program keeps for long
  /// uses up its own share and no other's, if each buffer has its own wr_id and is always posted
  /// with it. By wr_ids that are all equal, or that count up, a buffer cannot be told from another
  /// that came earlier. What a QP held that is destroyed counts for none.
  std::uint32_t share = 0;
};

/// What a queue pair is made with: QpOptions, and what belongs to the seam.
struct QpInit {
  std::shared_ptr<Cq> send_cq;  ///< For send requests.
  std::shared_ptr<Cq> recv_cq;  ///< For receives; may be the same.
  std::shared_ptr<Srq> srq;     ///< May be null: receives are posted to the QP itself.
  QpCapacity capacity;          ///< As in QpOptions.
  Signaling signaling = Signaling::kPerRequest;  ///< As in QpOptions.
  ConnectionHandler on_event;                    ///< May be empty.
  std::string capture;                           ///< As in QpOptions.
  std::uint32_t number = 0;  ///< 0: the device chooses. Otherwise the caller keeps it unique.
  /// For programs that know no connection, only two queue pairs: sends may be posted before there
  /// is one, and leave with it or fail (kUnreachable). The peer's end shows a second later, by
  /// requests that fail (kUnreachable, and those behind as flushed); when it ended gracefully the
  /// receives stay posted, until abort() or the end of the queue pair.
  /// Until Qp::use_manager().
  bool connectionless = false;
  /// Whether what is posted for sending behind disconnect() is taken and flushed with the rest, as
  /// adapters do for programs that wait for the completion of their last request; else it is
  /// refused (RFC 5041 §6.2.1).
  bool flushes_late_posts = false;
  std::chrono::milliseconds receive_wait{0};                 ///< As in QpOptions.
  std::chrono::milliseconds linger = kDefaultLinger;         ///< As in QpOptions.
  Liveness liveness{};                                       ///< As in QpOptions.
  SourceBuffers source_buffers = SourceBuffers::kMayChange;  ///< As in QpOptions.
  std::uint32_t max_fpdu = 0;                                ///< As in QpOptions.
};

/// A queue pair. Destruction flushes without completions and closes the connection; what had
/// completed still arrives. It may take place later than release(), as others share ownership for
/// a while.
class IWARP_API Qp {
 public:
  virtual ~Qp() = default;
  /// As QueuePair::post_send().
  virtual Result<void, PostError> post_send(std::span<const SendWr> requests, Posting posting) = 0;
  /// As QueuePair::post_receive().
  virtual Result<void, PostError> post_receive(std::span<const RecvWr> requests) = 0;
  /// What the peer may do through this queue pair: of the remote rights, those that a region has
  /// and `rights` too. Everything, until it is said. What has begun may go on.
  virtual void allow_peer(Access rights) = 0;
  /// The program connects it by a connection manager after all: no longer QpInit::connectionless.
  /// Before there is a connection.
  virtual void use_manager() {}
  /// Starts a connection; the outcome is a ConnectionEvent.
  virtual Outcome<void> connect(const Endpoint& to, const ConnectOptions& options) = 0;
  /// The same on a connection that there is already: takes `socket` and is the MPA initiator. After
  /// a failure at once the socket is the caller's as before.
  virtual Outcome<void> adopt(StreamingSocket& socket, const ConnectOptions& options) = 0;
  /// Starts a graceful end: what was posted is sent, then FIN. kDisconnected follows.
  virtual void disconnect() = 0;
  /// As QueuePair::close(). Before there is a connection, as abort().
  virtual void close() = 0;
  /// Ends at once: the TCP connection is reset, all requests are flushed.
  virtual void abort() = 0;
  /// The program destroys it, and calls nothing more of it. Returns when no thread places into
  /// memory on its behalf; none does so later, whatever comes. What was posted is flushed without
  /// completions. Not to be called with a lock that a fault handler of the program's memory takes.
  virtual void release() = 0;
  /// Whether each request that was posted has its completion, and none can get one any more.
  [[nodiscard]] virtual bool drained() const = 0;
  /// As QueuePair::state().
  [[nodiscard]] virtual QpState state() const = 0;
  /// Its number on the device.
  [[nodiscard]] virtual std::uint32_t number() const = 0;
  /// The limits it has.
  [[nodiscard]] virtual QpCapacity capacity() const = 0;
  /// As QueuePair::counters(). A provider that does not count answers zeros.
  [[nodiscard]] virtual QpCounters counters() const = 0;
  /// The Terminate that this side has sent, if any.
  [[nodiscard]] virtual std::optional<TerminateInfo> terminate_sent() const = 0;
  /// The Terminate that the peer has sent, if any.
  [[nodiscard]] virtual std::optional<TerminateInfo> terminate_received() const = 0;
  /// Why the connection is over. A provider that does not know answers with an empty one.
  [[nodiscard]] virtual Diagnosis diagnosis() const = 0;
};

/// Gets the TCP connection after a rejection, or why there is none.
using KeptHandler = std::function<void(Outcome<StreamingSocket>)>;

/// A connection that a peer asked for and that has no answer yet. Destroyed unanswered it is
/// rejected.
class IWARP_API IncomingConnection {
 public:
  virtual ~IncomingConnection() = default;
  /// What the peer stated: private data, IRD and ORD, revision.
  [[nodiscard]] virtual const ConnectionInfo& info() const = 0;
  /// Whether an answer would fail, as the peer has gone, or has waited too long. Any thread.
  [[nodiscard]] virtual bool withdrawn() const { return false; }
  /// Answers yes with `qp`; the outcome is a ConnectionEvent of that queue pair, unless this fails
  /// at once, as ConnectionRequest::start_accept().
  virtual Outcome<void> accept(const std::shared_ptr<Qp>& qp, const ConnectOptions& options) = 0;
  /// Answers no, and closes the connection. Errors: EINVAL for too much private data, EALREADY; as
  /// start_accept() if the peer has gone.
  virtual Outcome<void> reject(ConstBytes private_data) = 0;
  /// Answers no. The handler gets the connection once the answer is with TCP, or an Error if the
  /// peer has gone, or the answer could not be sent in time; it is called like a ConnectionHandler,
  /// unless this fails at once.
  virtual Outcome<void> reject_and_keep(ConstBytes private_data, KeptHandler handler) = 0;
};
/// Gets each connection that a Listener has a valid Request of; called like a ConnectionHandler.
using IncomingHandler = std::function<void(std::unique_ptr<IncomingConnection>)>;

/// Takes connections at an address, until it is destroyed. No call of its handlers begins after
/// that; one that is running is waited for on a thread that is no device's, and else runs to its
/// end.
class IWARP_API Listener {
 public:
  virtual ~Listener() = default;
  /// Where it listens.
  [[nodiscard]] virtual Endpoint endpoint() const = 0;
};

/// How a listener treats connecting peers.
struct ListenOptions {
  /// Requests that wait for Listener::next(), or for an async_request of an Asio acceptor. The
  /// latest of those whose address has the most is rejected beyond that. At least 1.
  int backlog = 1024;
  /// Whether the IPv6 wildcard address leaves IPv4 to others; none: as the system has it.
  std::optional<bool> v6_only{};
  /// As ConnectOptions::traffic_class, of the connections that are accepted.
  std::optional<std::uint8_t> traffic_class{};
  /// For the Request, from the TCP connection on.
  std::chrono::milliseconds request_timeout = std::chrono::seconds(10);
  /// Connections that have not sent a whole Request: of all peers, and of one address (of an IPv6
  /// address the upper 64 bits count). A peer that comes when there are as many takes the place of
  /// the one that has been silent longest, of its own address or of the one that has the most.
  std::size_t max_half_open = 1024;
  std::size_t max_half_open_per_address = 512;  ///< Of these, from one address.
  /// Whether the program wants a connection from there; empty: from everywhere. Asked before
  /// anything is read of it. One that is not wanted, or for which this throws, is closed without a
  /// Reply, and on_no_request is not told. Called as a ConnectionHandler is; it may destroy the
  /// listener.
  std::function<bool(const Endpoint& peer)> admits{};
  /// As QpOptions::liveness, of the connections that are accepted; none: their queue pair's.
  std::optional<Liveness> liveness{};
  /// Told why a connection was closed that brought no valid request (RFC 5044 §7.1.1); may be
  /// empty. Called as a ConnectionHandler is; it may destroy the listener.
  std::function<void(const Error&)> on_no_request{};
  /// Told each time that there is one more for Listener::next(); may be empty. Called as a
  /// ConnectionHandler is.
  std::function<void()> on_waiting{};
};

/// How the MPA responder begins on a connection that there is already.
struct AwaitOptions {
  /// The last streaming message (RFC 5044 §7.1.3, §7.1.5): what tells the peer that it may send its
  /// MPA Request. Sent before anything that came is looked at. The initiator has none: what it says
  /// last its program sends itself, and waits for this.
  std::vector<std::byte> last_message;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< For that and the Request.
};
/// Gets the Request of an adopted connection, or why there is none.
using AwaitHandler = std::function<void(Outcome<std::unique_ptr<IncomingConnection>>)>;

/// The wait for the Request of an adopted connection. Destroyed before its end it closes the
/// connection, and the handler is not called any more; one that is running runs to its end.
class IWARP_API RequestWait {
 public:
  virtual ~RequestWait() = default;
};

/// Is told of events that no completion reports.
using AsyncHandler = std::function<void(const AsyncEvent&)>;

/// A device, as the verbs objects see it.
class IWARP_API Provider {
 public:
  virtual ~Provider() = default;
  /// What it can do; constant.
  [[nodiscard]] virtual const DeviceAttributes& attributes() const = 0;
  /// Makes a protection domain.
  virtual Outcome<std::shared_ptr<Pd>> alloc_pd() = 0;
  /// As ProtectionDomain::register_memory().
  virtual Outcome<std::shared_ptr<Mr>> register_memory(const std::shared_ptr<Pd>& pd,
                                                       MutableBytes memory, Access access) = 0;
  /// The same, but Tagged Offsets and the addresses of Sge count from `base`, whatever the address.
  virtual Outcome<std::shared_ptr<Mr>> register_memory_at(const std::shared_ptr<Pd>& /*pd*/,
                                                          MutableBytes /*memory*/,
                                                          std::uint64_t /*base*/,
                                                          Access /*access*/) {
    return fail(std::errc::not_supported, "memory region: this device knows no other addresses");
  }
  /// Registers other memory, under another PD or with other rights, in place of what `mr` has. Its
  /// keys change unless the memory stays. With a `base` as register_memory_at(). On failure it
  /// stays as it was. EBUSY while a window is bound to it.
  virtual Outcome<void> reregister_memory(Mr& /*mr*/, const std::shared_ptr<Pd>& /*pd*/,
                                          MutableBytes /*memory*/, Access /*access*/,
                                          std::optional<std::uint64_t> /*base*/ = {}) {
    return fail(std::errc::not_supported, "memory region: this device cannot register anew");
  }
  /// Makes parts of registered memory present, to be read, or to be written too. A hint; errors:
  /// ENOENT for an lkey that names nothing, EPERM for one of another PD or without local write,
  /// EFAULT for what is not in its region or not there.
  virtual Outcome<void> prefetch(const std::shared_ptr<Pd>& /*pd*/, std::span<const Sge> /*parts*/,
                                 bool /*to_write*/) {
    return fail(std::errc::not_supported, "memory region: this device does not fetch memory");
  }
  /// As ProtectionDomain::check(). The default is for devices that cannot tell.
  [[nodiscard]] virtual Outcome<void> check(const std::shared_ptr<Pd>& /*pd*/,
                                            std::span<const Sge> /*sges*/,
                                            Access /*needed*/) const {
    return {};
  }
  /// As ProtectionDomain::alloc_window().
  virtual Outcome<std::shared_ptr<Mw>> alloc_window(const std::shared_ptr<Pd>& /*pd*/,
                                                    WindowType /*type*/) {
    return fail(std::errc::not_supported, "memory window: this device has none");
  }
  /// As ProtectionDomain::alloc_fast_region().
  virtual Outcome<std::shared_ptr<FastMr>> alloc_fast_region(const std::shared_ptr<Pd>& /*pd*/) {
    return fail(std::errc::not_supported, "memory region: this device has no fast registration");
  }
  /// As ProtectionDomain::create_srq().
  virtual Outcome<std::shared_ptr<Srq>> create_srq(const std::shared_ptr<Pd>& /*pd*/,
                                                   const SrqOptions& /*options*/) {
    return fail(std::errc::not_supported, "shared receive queue: this device has none");
  }
  /// As Device::create_cq().
  virtual Outcome<std::shared_ptr<Cq>> create_cq(std::uint32_t depth) = 0;
  /// As ProtectionDomain::create_qp().
  virtual Outcome<std::shared_ptr<Qp>> create_qp(const std::shared_ptr<Pd>& pd, QpInit init) = 0;
  /// Listens, and calls `handler` for each valid Request. Errors: the system's.
  virtual Outcome<std::shared_ptr<Listener>> listen(const Endpoint& at,
                                                    const ListenOptions& options,
                                                    IncomingHandler handler) = 0;
  /// Takes `socket` and is the MPA responder on it: the handler gets the peer's Request, or an
  /// Error after which the connection is closed. It is called like a ConnectionHandler, once,
  /// unless this fails at once: then the socket is the caller's as before.
  virtual Outcome<std::unique_ptr<RequestWait>> await_request(StreamingSocket& socket,
                                                              const AwaitOptions& options,
                                                              AwaitHandler handler) = 0;
  /// From now on asynchronous events go to `handler` and no more to wait_async_event(). Called on
  /// any thread, perhaps inside a call of the program: it must neither block nor call the device.
  virtual void on_async_event(AsyncHandler handler) = 0;
  /// Waits for an asynchronous event; none when the time is over. Keeps a number of them, and may
  /// keep fewer before the first call.
  virtual std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds timeout) = 0;
  /// For the end of a process that leaves connections behind: closes them as Qp::close() does, and
  /// returns when what had completed has arrived, as QpOptions::linger has it, and the peers have
  /// closed too or two seconds have passed. A device whose connections outlive the process does
  /// nothing.
  virtual void finish() {}
};

/// The software provider over kernel sockets, with its two threads. Given a network interface of
/// this host, the sockets of its connections and listeners are confined to it (SO_BINDTODEVICE):
/// they send and receive by no other, whatever the routes are. An address of the interface itself
/// counts as reached by it, also from this host. Sockets that a program hands over stay as the
/// program made them. Errors: ENODEV if no interface has that name; EPERM where confinement needs
/// CAP_NET_RAW (Linux before 5.7); EMFILE, ENFILE, EAGAIN (no thread), ENOMEM.
IWARP_API Outcome<std::shared_ptr<Provider>> open_software(const std::string& interface = {});

}  // namespace iwarp::verbs::provider
