#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs {

/// Who ended a connection.
enum class EndedBy : std::uint8_t {
  kNobody,         ///< It lives, or never began.
  kProgram,        ///< This side's program: disconnected, aborted, destroyed the queue pair.
  kStack,          ///< This side's stack, which found a fault.
  kPeerTerminate,  ///< The peer's Terminate: the peer's stack found a fault.
  kPeerReject,     ///< The peer's program: it rejected the connection.
  kPeerFin,        ///< The peer's FIN.
  kNetwork,        ///< A reset, the system's error, or a time-out.
};
const char* to_string(EndedBy by);

/// The layer in which a connection ended.
enum class EndLayer : std::uint8_t { kNone, kTcp, kMpa, kDdp, kRdmap };
const char* to_string(EndLayer layer);

/// Why a connection is over. The first cause counts, but a fault outranks a graceful end that was
/// under way.
struct Diagnosis {
  EndedBy by = EndedBy::kNobody;
  EndLayer layer = EndLayer::kNone;
  bool graceful = false;               ///< Everything that was posted could be sent.
  std::optional<TerminateInfo> cause;  ///< In the terms of a Terminate, sent or received.
  std::string sentence;                ///< What happened, in words; empty while nothing has.
  std::string header;                  ///< The headers it is about, field by field, if known.

  /// All of it on one line.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace iwarp::verbs
