#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::verbs {

/// What ended a connection.
enum class EndedBy : std::uint8_t {
  kNobody,         ///< It lives, or never began.
  kProgram,        ///< This side's program: disconnected, aborted, destroyed the queue pair.
  kStack,          ///< This side's stack, which found a fault.
  kPeerTerminate,  ///< The peer's Terminate: the peer's stack found a fault.
  kPeerReject,     ///< The peer's program: it rejected the connection.
  kPeerFin,        ///< The peer's FIN.
  kNetwork,        ///< A reset, the system's error, or a time-out.
};
/// A name for it, as in messages.
IWARP_API const char* to_string(EndedBy by);

/// The layer in which a connection ended.
enum class EndLayer : std::uint8_t { kNone, kTcp, kMpa, kDdp, kRdmap };
/// A name for it, as in messages: "DDP".
IWARP_API const char* to_string(EndLayer layer);

/// What layer, type and code of a Terminate mean, as a phrase: "DDP: invalid STag".
IWARP_API std::string describe(const TerminateInfo& terminate);

/// Why a connection is over. The first cause counts, but a fault outranks a graceful end that was
/// under way.
struct IWARP_API Diagnosis {
  EndedBy by = EndedBy::kNobody;       ///< What ended it.
  EndLayer layer = EndLayer::kNone;    ///< Where the cause lay; kNone without one.
  bool graceful = false;               ///< Everything that was posted could be sent.
  std::optional<TerminateInfo> cause;  ///< In the terms of a Terminate, sent or received.
  std::string sentence;                ///< What happened, in words; empty while nothing has.
  std::string header;                  ///< The headers it is about, field by field, if known.

  /// All of it on one line.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace iwarp::verbs
