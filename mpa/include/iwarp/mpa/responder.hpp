#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/negotiation.hpp"
#include "iwarp/mpa/startup_reader.hpp"

namespace iwarp::mpa {

/// What the initiator asked for.
struct PeerRequest {
  Revision revision = Revision::k2;  ///< Of the Request; the Reply has the same.
  Markers markers = Markers::kOff;   ///< Whether it wants to receive Markers.
  Crc crc = Crc::kOn;                ///< Whether it wants CRCs.
  /// Its IRD, ORD, connection model and RTR indications, if the Request is enhanced.
  std::optional<EnhancedData> enhanced;
  ConstBytes private_data;  ///< Refers into the Responder.
};

/// What to do if the initiator wants to issue more RDMA Reads than this end can serve.
enum class IrdShortage {
  kOfferLess,  ///< Accept with the IRD there is; the initiator has to lower its ORD to that.
  kReject,
};

/// How a responder accepts.
struct AcceptOptions {
  Crc crc = Crc::kOn;  ///< Whether this end wants CRCs.
  /// Whether the peer is to put Markers into what this end receives.
  Markers markers_rx = Markers::kOff;
  DepthOptions depths;  ///< IRD and ORD.
  /// The least ORD that the ULP can work with. If the initiator states a smaller IRD, the Request
  /// is rejected (RFC 6581 §9.1).
  std::uint16_t required_ord = 0;
  IrdShortage ird_shortage = IrdShortage::kOfferLess;  ///< If this end can serve too little.
  /// The RTR indications that this end takes; not empty if the initiator asks for peer-to-peer.
  RtrSet rtr = RtrSet::all();
  /// The ULP's; copied. At most Responder::max_private_data() octets.
  ConstBytes private_data;
};

/// How a responder rejects.
struct RejectOptions {
  /// What this end would need, told to an initiator that asked for an enhanced start-up.
  ReadDepth ird;
  ReadDepth ord;               ///< Likewise.
  RtrSet rtr = RtrSet::all();  ///< The RTR indications that this end would take.
  /// The ULP's; copied. At most Responder::max_private_data() octets.
  ConstBytes private_data;
};

/// The states of a responder's start-up (RFC 5044 §7.1.2).
enum class ResponderState { kAwaitingRequest, kDeciding, kAccepted, kRejected, kFailed };

/// What can happen to it. A Request that is not whole yet is no event.
enum class ResponderEvent {
  kValidRequest,
  kInvalidRequest,   ///< An improperly formatted frame.
  kPrematureOctets,  ///< Octets behind the Request, before the Reply.
  kAccept,
  kReject,  ///< By the ULP, or because the depths cannot be met.
  kConnectionClosed,
  kTimeout,
  kLocalError,
};

/// The transitions of a responder.
[[nodiscard]] ResponderState next_state(ResponderState state, ResponderEvent event);

/// The decision as it goes to the peer.
struct Answer {
  /// The Reply Frame: the octets to send. Refers into the Responder.
  ConstBytes reply;
  /// What was agreed; without value the Reply is a rejection, after which the TCP connection is
  /// left open to the ULP (RFC 5044 §7.1.2 rule 2). Full Operation begins behind the Reply, but
  /// this end sends no FPDU before it has received a valid one (rule 4).
  std::optional<Agreed> agreed;
  /// In the peer-to-peer model, the RTR indications one of which the first FPDU is to be.
  RtrSet expected_rtr;
};

/// The responder's side of the start-up (RFC 5044 §7.1, RFC 6581): a Request comes in, the ULP
/// decides, a Reply goes out. The caller owns the connection and the timer. Not thread-safe.
class Responder {
 public:
  /// Takes what belongs to the Request from the front of `bytes` and returns how many octets that
  /// is. The initiator has nothing to send behind it before it sees the Reply, so that further
  /// octets fail the start-up (RFC 5044 §7.1.1, PD_Length). Takes nothing once the Reply is out.
  std::size_t receive(ConstBytes bytes);
  /// The TCP connection was closed by the peer, or lost.
  void on_closed();
  /// The caller's timer for the Request ran out.
  void on_timeout();
  /// This end cannot go on.
  void on_local_error();

  /// Where the start-up stands.
  [[nodiscard]] ResponderState state() const { return state_; }
  /// Why the start-up failed: the TCP connection is to be closed, without a Reply and without a
  /// Terminate. Precondition: state() is kFailed.
  [[nodiscard]] Error error() const { return error_; }

  /// What the initiator asked for, once the Request is whole and valid.
  [[nodiscard]] std::optional<PeerRequest> request() const;
  /// The most Private Data that fits the Reply: 512 octets, or 508 to an enhanced Request.
  [[nodiscard]] std::size_t max_private_data() const;

  /// Accepts; or rejects, with this end's needs filled in, if the depths cannot be met. Errors,
  /// upon which nothing has changed: kWrongState unless state() is kDeciding; kPrivateDataTooLong;
  /// kInvalidOptions (depths out of bounds, no RTR indication in the peer-to-peer model).
  Result<Answer, Error> accept(const AcceptOptions& options);
  /// Rejects. Errors: kWrongState, kPrivateDataTooLong.
  Result<Answer, Error> reject(const RejectOptions& options);

 private:
  void apply(ResponderEvent event, Error error = Error::kLocalCatastrophic);
  Result<Answer, Error> accept_settled(const AcceptOptions& options, const PeerRequest& asked);
  Result<Answer, Error> send(const StartupFrame& frame, ResponderEvent event, Answer answer);

  StartupReader reader_{FrameKind::kRequest};
  std::array<std::byte, kMaxStartupFrameSize> reply_{};
  ResponderState state_ = ResponderState::kAwaitingRequest;
  Error error_ = Error::kLocalCatastrophic;
};

}  // namespace iwarp::mpa
