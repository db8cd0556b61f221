#pragma once

#include <sys/uio.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "iwarp/base/bytes.hpp"

namespace iwarp::tcp_offload {

/// An IPv4 or IPv6 address and a TCP port.
using Endpoint = boost::asio::ip::tcp::endpoint;

/// How a call on a stream went.
enum class IoStatus {
  kOk,           ///< At least one octet was moved (or none was offered).
  kWouldBlock,   ///< Nothing can be moved now; try again when the stream is ready.
  kEndOfStream,  ///< The peer sent FIN and every octet before it has been lent. Receive only.
  kLost,         ///< The connection is gone: reset, timed out or aborted. `error` says why.
  kFault,        ///< Memory that was offered cannot be read; nothing was taken, and the stream is
                 ///< as it was. Send only.
  kNoMemory,     ///< The system has no memory for it now, and nothing will signal that it has: try
                 ///< again after a while. Send only.
  kBadFpdu,      ///< An FPDU has failed a check that the device makes for this host; `error` says
                 ///< which. What came before it has been lent. Receive only.
};

/// What Stream::receive() lends.
struct Received {
  IoStatus status = IoStatus::kWouldBlock;  ///< How it went.
  MutableBytes data;                        ///< Not empty exactly when the status is kOk.
  std::error_code error;                    ///< Set exactly when the status is kLost or kBadFpdu.
  /// With kOk: there was no more. As if the next call had answered kWouldBlock, it need not be
  /// made; a device that cannot tell says nothing.
  bool drained = false;
};

/// What Stream::send() took.
struct Sent {
  IoStatus status = IoStatus::kWouldBlock;  ///< How it went.
  std::size_t accepted = 0;                 ///< Octets taken; may be fewer than were offered.
  std::error_code error;  ///< Set exactly when the status is kLost, kFault or kNoMemory.
};

/// How long the device waits for signs of life from the peer's TCP. Beyond these times the
/// connection is lost with std::errc::timed_out.
struct PeerWatch {
  /// For the acknowledgement of what was sent, and for a closed window to open (RFC 9293 §3.8.3);
  /// 0: as long as the system does.
  std::chrono::milliseconds unacknowledged{0};
  /// After such a silence the peer's TCP is asked whether it is there (RFC 9293 §3.8.4), in whole
  /// seconds; 0: never. Where it does not answer, the connection is lost after `unacknowledged`,
  /// or, if that is 0, after about as long again.
  std::chrono::seconds keep_alive{0};
};

/// What has become of the octets that a stream accepted.
struct Delivery {
  /// Octets accepted that the peer's TCP has not acknowledged; FIN is not counted.
  std::uint64_t unacknowledged = 0;
  /// Set if the connection is gone: what is unacknowledged has not arrived for certain.
  std::error_code lost;
};

/// One TCP connection in RDMA mode: an ordered stream of octets each way. No call blocks.
///
/// Threads: a stream has a receive half (receive, consume) and a send half (send, released,
/// shutdown_send). One thread at a time may be in each half; both halves may run at once.
/// delivery(), emss(), send_quantum(), abort(), watch_peer(), descriptor(), local() and remote()
/// may be called from any thread at any time before the destructor, which needs the stream for
/// itself. Streams of a simulated network belong to the one thread that runs the network.
///
/// Readiness: a stream with a descriptor becomes readable and writable as that descriptor does
/// (also in an edge-triggered epoll set: after kWouldBlock, or what `drained` says, the next change
/// is signalled). A new
/// stream may have octets to lend that its descriptor does not show: receive once before waiting. A
/// stream without a descriptor is tried again whenever its network has taken a step.
///
/// kEndOfStream and kLost are final for the half that saw them: the same answer follows for ever.
/// A reset is never reported as kEndOfStream, whichever half notices it first. Octets that arrived
/// before a reset may or may not still be lent.
///
/// FPDUs: a device with offloads() sends and receives other octets than it takes and lends
/// (Connection::hand_over). Everything here counts the octets between the device and this host.
/// FPDUs are offered in any pieces, each once and in order. Of those received, nothing of one is
/// lent before the device has checked it, unless the stream ends inside of it. kBadFpdu is told
/// once; as RFC 5044 §8 has it the device lends nothing behind it, but drops what still comes, and
/// does not close the connection: the end of the stream is told as ever, and the other way goes on.
///
/// Destruction closes the connection: octets accepted before are still delivered and followed by
/// FIN if everything received has been consumed; if something was left unread, or arrives later,
/// the peer sees a reset, and may lose octets it has not read yet. To close gently:
/// shutdown_send(), consume until kEndOfStream, destroy. Memory offered to send() must stay valid
/// until it is released or the destructor has returned.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Lends the next octets received. They are either at the start of `scratch` or in the device's
  /// own memory, may be changed in place, and stay valid and unchanged by the device until
  /// consumed. At most one range is lent at a time: the caller consumes all of it before the next
  /// receive(). Precondition: `scratch` is not empty, and nothing lent is left unconsumed. A range
  /// lent from the device's own memory may be longer than `scratch`.
  virtual Received receive(MutableBytes scratch) = 0;

  /// Gives back the first `n` octets that are still lent. Precondition: that many are.
  virtual void consume(std::size_t n) = 0;

  /// Offers the octets of `pieces`, in order. The octets accepted are the first `accepted` of them;
  /// the iovecs themselves may be reused at once, the memory they name when released() says so. If
  /// nothing is offered the answer is kOk with 0. After shutdown_send() the answer is kLost with
  /// std::errc::broken_pipe. Accepting fewer octets than offered does not tell whether more would
  /// be accepted now: offer the rest until kWouldBlock.
  virtual Sent send(std::span<const iovec> pieces) = 0;

  /// How many octets, of all those accepted since the hand-over, the device needs no longer: their
  /// memory may be changed or freed. Never decreases and never exceeds the octets accepted. A
  /// device that copies reports everything accepted; one that does not copy lags behind.
  [[nodiscard]] virtual std::uint64_t released() const = 0;

  /// What the peer's TCP has acknowledged. Nothing signals a change: ask again. A system call or
  /// two. `lost` may be set here before either half answers kLost.
  [[nodiscard]] virtual Delivery delivery() const = 0;

  /// The Effective Maximum Segment Size now (RFC 5044 §3), in octets: the payload that fits one TCP
  /// segment, TCP options taken off. A device that inserts Markers takes off the room for as many
  /// as a segment may get, four octets for each 512 begun, so that the MULPDU that this host
  /// reckons without Markers is the one of RFC 5044 §4.5 with them. May change during the
  /// connection's life. Makes no system call; a change is noticed with some delay as octets are
  /// sent.
  [[nodiscard]] virtual std::size_t emss() const = 0;

  /// How many octets one send() had best offer at most, 0 if as many as there are: what leaves this
  /// host as one packet, before anything cuts it into segments. A whole number of segments. Makes
  /// no system call; changes as emss() does.
  [[nodiscard]] virtual std::size_t send_quantum() const = 0;

  /// The descriptor to wait on with epoll, or -1 if the device has none. It stays the stream's.
  [[nodiscard]] virtual int descriptor() const = 0;

  /// Sends FIN after everything accepted so far. Receiving goes on. Further calls do nothing.
  virtual void shutdown_send() = 0;

  /// Drops the connection with a reset: octets accepted but not delivered are lost. From then on
  /// each half that has not ended before answers kLost with std::errc::connection_aborted; a range
  /// already lent stays valid. The descriptor, if any, stays open until the destructor. Further
  /// calls do nothing.
  virtual void abort() = 0;

  /// Watches for signs of life as `watch` says, from now on, as far as the device can. From any
  /// thread.
  virtual void watch_peer(const PeerWatch& watch) = 0;

  /// The address and port of this end.
  [[nodiscard]] virtual Endpoint local() const = 0;
  /// The address and port of the other end.
  [[nodiscard]] virtual Endpoint remote() const = 0;

 protected:
  Stream() = default;
};

}  // namespace iwarp::tcp_offload
