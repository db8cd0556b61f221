#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::asio {

// No destructors to run here either: see connection_options.hpp.

/// What a receive into a buffer got.
struct received {
  std::size_t size = 0;  ///< Octets of the message; with `immediate` of the Write before it.
  std::optional<std::uint64_t>
      immediate{};                    ///< What Immediate Data said, if it was that (RFC 7306 §6).
  std::optional<Stag> invalidated{};  ///< The STag of this side that the message ended, if any.
};

/// Everything that can be asked of a send queue. The functions of connection are short for it.
struct send_request {
  verbs::Opcode opcode = verbs::Opcode::kSend;  ///< What is asked for.
  /// This side's memory: the data, or the sink of a Read, which was registered with local write.
  const_buffer_list local{};
  /// Instead of `local`, at most max_inline octets, copied before the operation is queued.
  boost::asio::const_buffer unregistered{};
  /// Writes, Reads: as long as `local`, or longer; atomics: 8 octets.
  remote_buffer remote{};
  bool fence = false;              ///< Waits until the Reads and atomics before it have ended.
  bool solicited = false;          ///< Wakes a peer that waits for solicited events only.
  Stag invalidate{};               ///< Opcode::kSendInvalidate: the peer's; kInvalidate: ours.
  std::uint64_t immediate = 0;     ///< Of requests with immediate: eight octets.
  verbs::AtomicOperands atomic{};  ///< Of atomics.
};

}  // namespace iwarp::asio
