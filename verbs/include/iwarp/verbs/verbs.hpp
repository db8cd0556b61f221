#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <ranges>
#include <string>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/listener.hpp"
#include "iwarp/verbs/memory.hpp"
#include "iwarp/verbs/provider.hpp"
#include "iwarp/verbs/qp_options.hpp"

/// The verbs objects. Handles are movable and own what they name; destroying one releases it.
/// Every member function may be called from any thread unless it says otherwise.
namespace iwarp::verbs {

using provider::Arm;
using provider::AwaitOptions;
using provider::ListenOptions;

using provider::SrqOptions;

/// Receives for many queue pairs.
class IWARP_API SharedReceiveQueue {
 public:
  /// As QueuePair::post_receive().
  Result<void, PostError> post_receive(std::span<const RecvWr> requests) {
    return core_->post_receive(requests);
  }
  /// The same for a single one.
  Result<void, PostError> post_receive(const RecvWr& request) {
    return post_receive({&request, 1});
  }
  /// One AsyncEvent (kSrqLimitReached) when fewer than `limit` receives are posted; 0 disarms.
  Outcome<void> arm_limit(std::uint32_t limit) { return core_->arm_limit(limit); }
  /// Its number on the device, as in AsyncEvent.
  [[nodiscard]] std::uint32_t number() const { return core_->number(); }

 private:
  friend class ProtectionDomain;
  explicit SharedReceiveQueue(std::shared_ptr<provider::Srq> core) : core_(std::move(core)) {}
  std::shared_ptr<provider::Srq> core_;
};

/// Where work requests report their end.
class IWARP_API CompletionQueue {
 public:
  /// Takes completions, up to `into.size()`; returns how many. A poll that finds less than asked
  /// also drives the sockets of the queue's QPs, so that a polling thread needs no other thread;
  /// but for the first few polls behind arm(), where a program is about to sleep and the engine's
  /// thread drives them.
  std::size_t poll(std::span<Completion> into) { return core_->poll(into); }
  /// One completion, waiting up to `timeout`; the calling thread drives the sockets meanwhile. None
  /// at once if the queue is empty and has overrun: nothing comes any more.
  std::optional<Completion> wait(std::chrono::milliseconds timeout);
  /// For event loops, which sleep themselves in the place of wait(): readable, between begin_wait()
  /// and end_wait(), as soon as poll() may find or move something. Not to be read or written.
  /// Throws std::system_error (EMFILE, ENFILE, ENOMEM) if there is none yet, and none can be made.
  [[nodiscard]] int wait_descriptor() { return core_->wait_descriptor(); }
  /// The calling thread is about to sleep on wait_descriptor(): until end_wait() the sockets of the
  /// queue's QPs are left to it, as long as it wakes up for them. While it does not, because it is
  /// busy with something else, the device's own thread serves those that have been ready for some
  /// milliseconds. True if it has to poll once more before. Several threads may wait at a time.
  bool begin_wait() { return core_->begin_wait(); }
  /// It sleeps no more, and polls next. Once for each begin_wait().
  void end_wait() { core_->end_wait(); }
  /// Asks for one event at the next completion (kSolicited: the next solicited or failed one).
  /// Poll once more after arming: what came before does not raise an event.
  void arm(Arm what = Arm::kAny) { core_->arm(what); }
  /// For poll(2) and the like: readable while an event waits for take_event(). Throws as
  /// wait_descriptor().
  [[nodiscard]] int event_descriptor() { return core_->event_descriptor(); }
  /// Takes one event without blocking; false when there is none.
  bool take_event() { return core_->take_event(); }
  /// The completions it holds before it overruns, see AsyncEvent.
  [[nodiscard]] std::uint32_t capacity() const { return core_->capacity(); }
  /// Changes the capacity. Errors: EINVAL, also if more completions wait than would fit, or if the
  /// queue has overrun, which is for ever.
  Outcome<void> resize(std::uint32_t depth) { return core_->resize(depth); }
  /// Its number on the device, as in AsyncEvent.
  [[nodiscard]] std::uint32_t number() const { return core_->number(); }

 private:
  friend class Device;
  friend class ProtectionDomain;
  explicit CompletionQueue(std::shared_ptr<provider::Cq> core) : core_(std::move(core)) {}

  std::shared_ptr<provider::Cq> core_;
};

/// One end of an iWARP connection. The end of the last copy of the handle destroys it: the
/// connection is closed, what had completed still arrives, and when the destructor returns nothing
/// is placed into memory for it any more.
class IWARP_API QueuePair {
 public:
  /// Posts a list in order, as one batch. On failure the requests before `index` were posted,
  /// unless it was to be all or none. Before the connection is established the answer is ENOTCONN,
  /// and from disconnect() to its end. After the end, and after close(), the requests complete as
  /// flushed at once: the one posted last tells that the queue has been emptied.
  ///
  /// The accepting side need not wait: from accept() on requests are taken, and leave once the peer
  /// has sent its first FPDU (RFC 5044 §7.1.2). A peer that was asked for one right behind the
  /// answer (ConnectOptions::peer_to_peer) and has sent none for ten seconds is lost; without
  /// peer_to_peer it may take any time. Work that sends nothing does not wait, unless for a request
  /// before it. One of them that turns out not to be allowed, for an ORD of 0 or want of RFC 7306,
  /// ends the connection: Status::kRemoteInvalidRequest.
  Result<void, PostError> post_send(std::span<const SendWr> requests,
                                    Posting posting = Posting::kUntilRefused) {
    return core_->post_send(requests, posting);
  }
  /// The same for a single one.
  Result<void, PostError> post_send(const SendWr& request) { return post_send({&request, 1}); }
  /// Posts receives in order; they are taken in that order, one by each Send. In any state: what
  /// the peer sends first needs one. On failure those before `index` were posted; EINVAL with a
  /// shared receive queue.
  Result<void, PostError> post_receive(std::span<const RecvWr> requests) {
    return core_->post_receive(requests);
  }
  /// The same for a single one.
  Result<void, PostError> post_receive(const RecvWr& request) {
    return post_receive({&request, 1});
  }

  /// Connects and waits for the outcome, at most `options.timeout`.
  Outcome<ConnectionInfo> connect(const Endpoint& to, const ConnectOptions& options = {});
  /// Starts to connect; the outcome goes to the handler of QpOptions.
  Outcome<void> start_connect(const Endpoint& to, const ConnectOptions& options = {});
  /// Starts MPA as the initiator on a connection over which the program has spoken another protocol
  /// (RFC 5044 §7.1.3), and waits for the outcome, at most `options.timeout`. There is no second
  /// attempt with revision 1. Errors at once, which leave `socket` as it is: EBADF, ENOTSOCK,
  /// EPROTOTYPE (not TCP), ENOTCONN; EISCONN if the queue pair is not idle; EINVAL for `options`.
  /// Otherwise `socket` is empty afterwards, unless the peer has rejected and the options say
  /// kGiveBack: then it is there again, with what was read behind the Reply, and not in the event.
  Outcome<ConnectionInfo> adopt(StreamingSocket& socket, const ConnectOptions& options = {});
  /// The same without waiting: the outcome goes to the handler of QpOptions, and after a rejection
  /// the socket too.
  Outcome<void> start_adopt(StreamingSocket& socket, const ConnectOptions& options = {});
  /// Ends gracefully: what was posted is sent, then the connection closes. kDisconnected comes
  /// when the peer's TCP has acknowledged everything and the peer has closed too, or has been
  /// silent for QpOptions::linger; with an error if something may not have arrived.
  void disconnect() { core_->disconnect(); }
  /// Ends at once for this side: what is posted completes as flushed. What had completed before
  /// still arrives, and kDisconnected comes as after disconnect(). A message that was on its way is
  /// cut short; what the peer still sends is dropped.
  void close() { core_->close(); }
  /// Resets the connection; what is posted completes as flushed.
  void abort() { core_->abort(); }
  /// Waits until the connection is over; false when the time is up before.
  bool wait_disconnected(std::chrono::milliseconds timeout);
  /// Ends the connection as close() does, if it is not over, and waits until each request that was
  /// posted has its completion in its queue: afterwards none of their memory is in use. False when
  /// the time is up, or at once in a forked child, see Device. Not within a handler: what it waits
  /// for may come behind that.
  bool drain(std::chrono::milliseconds timeout);

  /// Where it stands at this moment; another thread may change that at once.
  [[nodiscard]] QpState state() const { return core_->state(); }
  /// Its number on the device, which no other queue pair has while this one lives: tells which one
  /// a completion (Completion::qp_number) or an AsyncEvent is about where several share a queue.
  [[nodiscard]] std::uint32_t number() const { return core_->number(); }
  /// What came of its start-up: what both sides agreed on and the peer's private data, or what the
  /// peer said with its rejection; empty before, and after another failure. It is there when
  /// connect(), adopt() or accept() return, while the handler may still be running.
  [[nodiscard]] ConnectionInfo info() const;
  /// The limits it has.
  [[nodiscard]] QpCapacity capacity() const { return core_->capacity(); }
  /// What has passed since it connected; zeros before.
  [[nodiscard]] QpCounters counters() const { return core_->counters(); }
  /// The Terminate that this side has sent; none if it has not.
  [[nodiscard]] std::optional<TerminateInfo> terminate_sent() const {
    return core_->terminate_sent();
  }
  /// The Terminate that the peer has sent; none if none came.
  [[nodiscard]] std::optional<TerminateInfo> terminate_received() const {
    return core_->terminate_received();
  }
  /// Which side ended the connection, in which layer, why, and with which header; stays after the
  /// end. The log has it too, as one line when the connection closes: a warning if that was neither
  /// graceful nor this program's wish.
  [[nodiscard]] Diagnosis diagnosis() const { return core_->diagnosis(); }

 private:
  friend class ProtectionDomain;
  friend class ConnectionRequest;
  class EventBox;
  QueuePair(std::shared_ptr<provider::Qp> core, std::shared_ptr<EventBox> events)
      : events_(std::move(events)), core_(std::move(core)) {}

  std::shared_ptr<EventBox> events_;
  std::shared_ptr<provider::Qp> core_;
};

/// Groups memory and queue pairs that may be used together.
class IWARP_API ProtectionDomain {
 public:
  /// Registers `memory`, which stays allocated while the region lives. Errors: EINVAL for rights
  /// that need local write without it; EFAULT where the process may not read the memory, or not
  /// write to it with a right to write or to bind windows; ENOMEM without a free STag. Memory that
  /// goes away all the same ends the connection that uses it, see docs/architecture.md.
  Outcome<MemoryRegion> register_memory(MutableBytes memory, Access access);
  /// Registers memory that is only read, `const` or not: what is sent, what Writes take their data
  /// from, with SourceAccess::kRemoteRead also what the peer reads. Errors: as the other's.
  Outcome<ConstMemoryRegion> register_memory(ConstBytes memory,
                                             SourceAccess access = SourceAccess::kNone);
  /// Not of memory that ends with the call, as that of a temporary vector.
  template <std::convertible_to<ConstBytes> Temporary>
    requires(!std::ranges::borrowed_range<Temporary>)
  Outcome<ConstMemoryRegion> register_memory(Temporary&& memory,
                                             SourceAccess access = SourceAccess::kNone)
  = delete;
  /// Whether a request of this domain could use such memory now: read it, or with `needed`
  /// Access::kLocalWrite write to it, as receives and Reads do. Errors, of which the message names
  /// the element: ENOENT for an lkey that opens nothing, EPERM for memory of another domain or
  /// without local write, EFAULT for what is not in its region; ENODEV in a forked child, see
  /// Device. Of an element without octets nothing is asked. A device that cannot tell before a
  /// request is posted finds nothing wrong.
  [[nodiscard]] Outcome<void> check(std::span<const Sge> sges, Access needed) const {
    return owner_->check(core_, sges, needed);
  }
  /// What memory of this domain that Reads write to must permit: DeviceAttributes::read_sink.
  [[nodiscard]] Access read_sink() const { return owner_->attributes().read_sink; }
  /// Makes a window that is bound to nothing. Errors: ENOMEM; ENOTSUP if the device has none.
  Outcome<MemoryWindow> alloc_window(WindowType type);
  /// Makes a fast region that is not in force. Errors: as alloc_window().
  Outcome<FastRegion> alloc_fast_region();
  /// Makes a shared receive queue. Errors: EINVAL beyond the limits of the device; ENOTSUP if it
  /// has none.
  Outcome<SharedReceiveQueue> create_srq(const SrqOptions& options = {});
  /// Makes a queue pair that is not connected; it keeps the queues and this domain alive. Errors:
  /// EINVAL for limits above the device's, objects of another device, a `receive_wait` that is not
  /// within 0 to 1 s, a `linger` not within 0 to 1 h, a time of `liveness` not within 0 to 24 h or
  /// a `max_fpdu` that is neither 0 nor within 136 to 65,536 octets.
  Outcome<QueuePair> create_qp(const CompletionQueue& send_cq, const CompletionQueue& recv_cq,
                               QpOptions options = {});
  /// The same with one queue for both.
  Outcome<QueuePair> create_qp(const CompletionQueue& cq, QpOptions options = {}) {
    return create_qp(cq, cq, std::move(options));
  }

 private:
  friend class Device;
  friend class MemoryRegion;
  ProtectionDomain(std::shared_ptr<provider::Provider> owner, std::shared_ptr<provider::Pd> core)
      : owner_(std::move(owner)), core_(std::move(core)) {}

  std::shared_ptr<provider::Provider> owner_;
  std::shared_ptr<provider::Pd> core_;
};

/// The names of the devices that this host has now, "soft" first. Device::open() takes more than
/// these: "soft:INTERFACE". Which can be opened shows only then. From any thread.
IWARP_API std::vector<std::string> device_names();

/// An RDMA device. Keeps running while any object made from it lives.
///
/// A forked child has inherited its parent's devices, and all that was made from them, but cannot
/// use them: calls fail with ENODEV, polls find nothing, waits return at once. Destroying them does
/// nothing, so the child may end as it likes, and the parent goes on. The sockets, or what leads to
/// an adapter, are closed in the child before fork() returns there: no peer reaches a listener by
/// the child, and a connection ends with the parent's. What the child opens itself works. A handler
/// that forks ends the child before it returns (exec or _exit), as the device's thread is not there
/// to return to.
class IWARP_API Device {
 public:
  /// Opens a device by name:
  ///  * "soft", the software stack;
  ///  * "soft:INTERFACE", the software stack, whose connections and listeners take that network
  ///    interface alone (provider::open_software());
  ///  * "rnic:ADAPTER", an iWARP adapter that rdma-core has by that name ("rnic:siw0"): all of the
  ///    protocol runs there, and what it lacks is refused (ENOTSUP);
  ///  * the empty name, what the environment variable IWARP_DEVICE says, and without it "soft". A
  ///    set-user-ID or set-group-ID program, or one with file capabilities, does not look there.
  ///
  /// Errors: ENODEV if nothing is called so, with a sentence that says what there is; EPERM where
  /// the interface takes CAP_NET_RAW; ENOENT without rdma-core, EACCES and others of an adapter;
  /// those of a system that has no descriptors, threads or memory left for it. From any thread;
  /// each call opens a device of its own.
  static Outcome<Device> open(const std::string& name = {});
  /// A device over a provider of the caller's own.
  explicit Device(std::shared_ptr<provider::Provider> provider) : core_(std::move(provider)) {}

  /// What it can do; valid as long as this object.
  [[nodiscard]] const DeviceAttributes& attributes() const { return core_->attributes(); }
  /// Makes a protection domain.
  Outcome<ProtectionDomain> alloc_pd();
  /// Makes a completion queue for `depth` completions. Errors: EINVAL unless that is from 1 to
  /// DeviceAttributes::max_cqe.
  Outcome<CompletionQueue> create_cq(std::uint32_t depth);
  /// Listens at an address of this host; port 0 takes a free one. Errors: the system's, such as
  /// EADDRINUSE, EADDRNOTAVAIL, EACCES.
  Outcome<Listener> listen(const Endpoint& at, const ListenOptions& options = {});
  /// The same with a handler that gets each valid request.
  Outcome<Listener> listen(const Endpoint& at, const ListenOptions& options,
                           IncomingHandler handler);
  /// Starts MPA as the responder on a connection over which the program has spoken another protocol
  /// (RFC 5044 §7.1.3), and waits for the peer's Request. It is answered like a Listener's. Errors
  /// at once, which leave `socket` as it is: EBADF, ENOTSOCK, EPROTOTYPE (not TCP), ENOTCONN.
  /// Otherwise `socket` is empty afterwards; after any other error the connection is closed, as RFC
  /// 5044 §7.1.2 demands: ETIMEDOUT, ECONNRESET, EPROTO for what is no Request.
  Outcome<ConnectionRequest> await_request(StreamingSocket& socket,
                                           const AwaitOptions& options = {});
  /// The same without waiting: the handler gets what the other returns, on a thread of the device,
  /// which it must not block: it answers by start_accept(), reject() or start_reject_and_keep(), or
  /// passes the request on.
  Outcome<RequestWait> start_await_request(StreamingSocket& socket, const AwaitOptions& options,
                                           RequestHandler handler);
  /// The next asynchronous event; none when the time is over. Events are kept for a program that
  /// calls this, 1,024 at most; as long as it has not, the latest 32.
  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds timeout) {
    return core_->wait_async_event(timeout);
  }

 private:
  std::shared_ptr<provider::Provider> core_;
};

}  // namespace iwarp::verbs
