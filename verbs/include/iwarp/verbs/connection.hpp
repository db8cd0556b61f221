#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "iwarp/verbs/endpoint.hpp"
#include "iwarp/verbs/error.hpp"
#include "iwarp/verbs/streaming_socket.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs {

/// What becomes of a TCP connection whose MPA start-up ends in a rejection. RFC 5044 §7.1.2 (rules
/// 2 and 3) leaves it open to its user, which mostly has no use for it.
enum class AfterRejection : std::uint8_t {
  kClose,
  kGiveBack,  ///< It is the program's again, in streaming mode.
};

/// QpOptions::linger unless the program says otherwise.
inline constexpr std::chrono::milliseconds kDefaultLinger = std::chrono::seconds(60);

/// How long a connection is waited for whose peer takes in nothing, unless the program says
/// otherwise.
inline constexpr std::chrono::milliseconds kDefaultUnacknowledged = std::chrono::seconds(60);

/// How long a connection lasts whose peer gives no sign of life: what a peer holds here that has
/// gone, or does nothing. 0 is no limit; each may be up to 24 h. Beyond a limit the connection is
/// lost: what is posted is flushed, and kDisconnected bears an error.
struct Liveness {
  /// Until the peer's TCP acknowledges what was sent, and until a peer whose receive window is
  /// closed, since its program does not read, opens it (TCP_USER_TIMEOUT; RFC 5482 has the idea of
  /// it). Each acknowledgement begins it anew: a peer that reads slowly is not meant. None:
  /// kDefaultUnacknowledged, or QpOptions::linger if that is longer.
  std::optional<std::chrono::milliseconds> unacknowledged{};
  /// After such a silence, in whole seconds, the peer's TCP is asked whether it is still there (RFC
  /// 9293 §3.8.4). If it does not answer, the connection lasts for `unacknowledged` in all.
  std::chrono::milliseconds keep_alive = std::chrono::seconds(30);
  /// In RDMA mode: until an octet moves, in either direction. A peer may be alive and have nothing
  /// to say, so that only the program knows what is too long.
  std::chrono::milliseconds idle{0};

  bool operator==(const Liveness&) const = default;  ///< Member by member.
};

/// How one side wants to start a connection (RFC 5044 §7.1, RFC 6581 §9).
struct ConnectOptions {
  std::vector<std::byte> private_data{};  ///< 512 octets at most, 508 with MPA revision 2.
  std::uint16_t ird = 16;                 ///< Inbound Reads that this side will hold.
  std::uint16_t ord = 16;                 ///< Outbound Reads that this side would like.
  std::uint8_t mpa_revision = 2;  ///< Or 1 (RFC 5044). The accepting side answers what it is asked.
  bool peer_to_peer = true;       ///< Either side may send first (revision 2 only).
  bool require_crc = true;        ///< CRC is used if either side requires it.
  bool want_markers = false;      ///< Ask the peer to put markers in what it sends.
  bool rfc7306 = true;  ///< Atomics and Immediate Data; if not, the peer's are unexpected opcodes.
  bool fall_back = true;  ///< Try revision 1 once if a revision 2 request gets no answer. Takes a
                          ///< new TCP connection: without effect on an adopted one.
  /// What becomes of the TCP connection, adopted or not, when either side rejects.
  AfterRejection after_rejection = AfterRejection::kClose;
  Endpoint from{};  ///< The local end; an unspecified address or port 0 is chosen by the system.
  /// The traffic class of IPv6, or type of service of IPv4, of what this side sends; none: the
  /// system's. Of an accepted connection it is the listener's.
  std::optional<std::uint8_t> traffic_class{};
  /// For how long a TCP connection that is refused, or whose peer's host does not answer, is tried
  /// again: the peer's program may be about to listen.
  std::chrono::milliseconds retry_refused{0};
  /// For TCP and start-up together. It counts the time in which this process ran, and an answer
  /// that lies in the socket when it is over is taken.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

/// What both sides agreed on.
struct ConnectionInfo {
  Endpoint local;                       ///< This end of the TCP connection.
  Endpoint remote;                      ///< The peer's.
  std::vector<std::byte> private_data;  ///< The peer's.
  std::uint16_t ird = 0;                ///< In force here: Reads of the peer at a time.
  std::uint16_t ord = 0;                ///< In force here: Reads of this side at a time.
  /// The peer's IRD as it stated it; none if it leaves that to its ULP, or the start-up was not
  /// enhanced (RFC 6581 §9.1).
  std::optional<std::uint16_t> peer_ird;
  std::optional<std::uint16_t> peer_ord;  ///< Likewise.
  std::uint8_t mpa_revision = 0;          ///< That both sides spoke: 1 or 2.
  bool crc = false;  ///< Whether FPDUs bear a CRC both ways; their CRC field is always there (RFC
                     ///< 5044 §4.4).
  bool markers_sent = false;      ///< Whether the peer asked for Markers.
  bool markers_received = false;  ///< Whether this side asked for them.
  bool rfc7306 = true;  ///< Whether this side takes part in RFC 7306; the peer's part is unknown.
};

/// What happens to a connection. Delivered one after the other, without any lock held, on a thread
/// of the device: a handler may post, disconnect or destroy, and must not block for long. One that
/// is running when another thread destroys the queue pair runs to its end.
///
/// Nothing of a queue pair completes before the handler has been told how its start-up ended, and
/// has returned. What was posted before kDisconnected may have been flushed before it.
struct ConnectionEvent {
  /// What has happened. One of the first three ends a start-up; kDisconnected follows kEstablished
  /// once, when the connection is over.
  enum class Kind : std::uint8_t { kEstablished, kRejected, kFailed, kDisconnected };
  Kind kind = Kind::kFailed;  ///< What has happened.
  Error error;                ///< kFailed, kRejected; empty for a graceful kDisconnected.
  ConnectionInfo info;        ///< kEstablished; of kRejected only what the peer stated.
  /// The TCP connection after a rejection, sent or received, if kGiveBack was asked for and the
  /// device has descriptors. The program owns it once it takes it out of here; left, it is closed.
  std::shared_ptr<StreamingSocket> socket{};
};
/// Is told of what happens to a connection, as ConnectionEvent says.
using ConnectionHandler = std::function<void(const ConnectionEvent&)>;

}  // namespace iwarp::verbs
