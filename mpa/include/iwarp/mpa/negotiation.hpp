#pragma once

#include <cstdint>
#include <optional>

#include "iwarp/base/result.hpp"
#include "iwarp/mpa/enhanced_data.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/modes.hpp"
#include "iwarp/mpa/startup_frame.hpp"

namespace iwarp::mpa {

/// Whether an end states its IRD or ORD, or leaves the matter to the ULP (RFC 6581 §9.1).
enum class DepthStatement { kStated, kLeftToUlp };

/// How many RDMA Reads an endpoint serves (IRD) and issues (ORD) at a time, before the negotiation.
/// No number may exceed kMaxReadDepth.
struct DepthOptions {
  std::uint16_t ird = 16;  ///< Reads and atomics of the peer, held at a time.
  std::uint16_t ord = 16;  ///< Reads of this end, issued at a time.
  /// How far the peer may raise `ird`; not less than `ird`.
  std::uint16_t ird_limit = 16;
  DepthStatement ird_statement = DepthStatement::kStated;  ///< Of `ird`.
  DepthStatement ord_statement = DepthStatement::kStated;  ///< Of `ord`.

  /// Whether the numbers keep within their bounds.
  [[nodiscard]] constexpr bool valid() const {
    return ird <= ird_limit && ird_limit <= kMaxReadDepth && ord <= kMaxReadDepth;
  }
};

/// The IRD and ORD that an endpoint works with.
struct Depths {
  std::uint16_t ird = 0;  ///< What this end serves at a time.
  std::uint16_t ord = 0;  ///< What this end issues at a time.

  constexpr bool operator==(const Depths&) const = default;
};

/// What an end has agreed on with its peer when the start-up is done.
struct Agreed {
  Revision revision = Revision::k2;                        ///< Of the start-up frames.
  StreamModes modes;                                       ///< CRC and Markers.
  ConnectionModel model = ConnectionModel::kClientServer;  ///< Who may send first.
  /// What this end is to work with. In an unenhanced start-up its own options, unchanged.
  Depths depths;
  /// As the peer stated them, to be passed to the ULP (RFC 6581 §9.1).
  ReadDepth peer_ird;
  ReadDepth peer_ord;  ///< Likewise.
};

/// What an end that has states as its IRD or ORD.
[[nodiscard]] ReadDepth stated(std::uint16_t depth, DepthStatement statement);

/// The initiator's depths after an accepting Reply (RFC 6581 §9.1): ORD at most the responder's
/// IRD, IRD at least its ORD. Errors: kInsufficientIrd if that is above the limit.
[[nodiscard]] Result<Depths, Error> settle_initiator(const DepthOptions& own,
                                                     const EnhancedData& reply);

/// The responder's depths for a Request (RFC 6581 §9.1): ORD at most the initiator's IRD; IRD
/// raised towards the initiator's ORD up to the limit, and to 1 if `answer` holds a Read RTR.
[[nodiscard]] Depths settle_responder(const DepthOptions& own, const EnhancedData& request,
                                      RtrSet answer);

/// The RTR indications a responder answers with (RFC 6581 §9.2): those that both support, or if
/// there are none all of its own, so that the initiator can tell why it fails.
[[nodiscard]] RtrSet answer_rtr(RtrSet own, RtrSet asked);

/// The RTR indication an initiator sends: the first of Write, Read, Send in both sets, or kNone.
[[nodiscard]] Rtr choose_rtr(RtrSet own, RtrSet offered);

}  // namespace iwarp::mpa
