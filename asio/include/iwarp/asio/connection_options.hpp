#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/connection.hpp"
#include "iwarp/verbs/qp_options.hpp"

namespace iwarp::asio {

class message_pool;

/// An IPv4 or IPv6 address and a TCP port.
using endpoint = boost::asio::ip::tcp::endpoint;

// The options below have no destructors to run: g++ 12 destroys temporaries twice that are braced
// aggregates inside a co_await expression (GCC bug 98401).

/// How one side wants to start a connection (RFC 5044 §7.1, RFC 6581 §9), as verbs::ConnectOptions.
struct IWARP_API connect_options {
  boost::asio::const_buffer private_data{};  ///< 508 octets at most; copied by the call.
  std::uint16_t ird = 16;                    ///< Inbound Reads and atomics that this side holds.
  std::uint16_t ord = 16;                    ///< Outbound ones that it would like.
  std::uint8_t mpa_revision = 2;             ///< Or 1 (RFC 5044).
  bool peer_to_peer = true;                  ///< Either side may send first (revision 2 only).
  bool require_crc = true;                   ///< CRC is used if either side requires it.
  bool want_markers = false;                 ///< Ask the peer to put markers in what it sends.
  bool rfc7306 = true;                       ///< Atomics and Immediate Data.
  bool fall_back = true;  ///< Try revision 1 once if a revision 2 request gets no answer.
  endpoint from{};        ///< The local end; by default the system's choice.
  std::chrono::milliseconds retry_refused{0};  ///< For how long a refused one is tried again.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  ///< TCP and start-up together.

  /// The same for the verbs layer, with a copy of the private data.
  [[nodiscard]] verbs::ConnectOptions to_verbs() const;
};

/// What a connection is made with.
struct connection_options {
  std::uint32_t max_sends = 128;     ///< Requests given to the device at once; more wait here.
  std::uint32_t max_receives = 128;  ///< The same for async_receive() with a buffer.
  std::uint32_t max_buffers = 4;     ///< Elements of a buffer_list, up to buffer_list::kMax.
  std::uint32_t max_inline = 256;    ///< Octets that may be sent from memory not registered.
  /// Where async_receive() without a buffer takes messages from; it is kept. Of the same domain.
  const message_pool* messages = nullptr;
  /// Without one: this many receives of `message_size` octets of the connection's own.
  std::uint32_t message_count = 0;
  std::uint32_t message_size = 4096;  ///< Octets of each.
  /// A directory for a capture, as in verbs::QpOptions; null: none. Read by the constructor.
  const char* capture = nullptr;
  /// Whether the program leaves alone what it sends until that is done, as in verbs::QpOptions.
  verbs::SourceBuffers source_buffers = verbs::SourceBuffers::kMayChange;
  /// The most octets of an FPDU that this end sends, as in verbs::QpOptions; 0: what fits a
  /// segment.
  std::uint32_t max_fpdu = 0;
  /// How long it lasts without a sign of life from the peer, as in verbs::QpOptions.
  verbs::Liveness liveness{};
};

}  // namespace iwarp::asio
