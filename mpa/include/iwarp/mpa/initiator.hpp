#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/negotiation.hpp"
#include "iwarp/mpa/startup_reader.hpp"

namespace iwarp::mpa {

/// What an initiator begins with.
enum class StartupFormat {
  kRevision1,  ///< RFC 5044.
  kRevision2,  ///< Revision 2 without enhanced connection data (S=0).
  kEnhanced,   ///< Revision 2 with it (S=1): IRD, ORD, peer-to-peer.
};

/// Whether the responder, too, may be the first whose ULP sends (RFC 6581 §9.2). Only an enhanced
/// start-up can offer it.
enum class PeerToPeer {
  kOff,
  kPreferred,  ///< Asked for; but to fall back to revision 1, which lacks it, is acceptable.
  kRequired,   ///< Asked for, and never given up.
};

/// Whether a failed start-up may be tried again with revision 1, on a new connection.
enum class Fallback { kForbidden, kPermitted };

/// What the initiator of a connection asks for.
struct InitiatorOptions {
  StartupFormat format = StartupFormat::kEnhanced;   ///< Of the Request.
  PeerToPeer peer_to_peer = PeerToPeer::kPreferred;  ///< Whether the responder may send first.
  /// The RTR indications that this end can send; not empty in the peer-to-peer model.
  RtrSet rtr = {Rtr::kWrite, Rtr::kRead};
  Crc crc = Crc::kOn;  ///< Whether this end wants CRCs.
  /// Whether the peer is to put Markers into what this end receives.
  Markers markers_rx = Markers::kOff;
  DepthOptions depths;                       ///< IRD and ORD.
  Fallback fallback = Fallback::kPermitted;  ///< Whether revision 1 would do.
  /// The ULP's; copied. At most 512 octets, or 508 in an enhanced start-up.
  ConstBytes private_data;
};

/// The same options for the second attempt that Failed::fallback permits (RFC 6581 §10).
[[nodiscard]] InitiatorOptions revision_1_fallback(InitiatorOptions options);

/// The states of an initiator's start-up (RFC 5044 §7.1.2).
enum class InitiatorState { kAwaitingReply, kAccepted, kRejected, kFailed };

/// What can happen to it. A Reply that is not whole yet is no event.
enum class InitiatorEvent {
  kAcceptingReply,   ///< A valid Reply with R=0 that suits both ends.
  kRejectingReply,   ///< A valid Reply with R=1.
  kInvalidReply,     ///< A frame that is improperly formatted or not the answer to the Request.
  kUnsuitableReply,  ///< A valid Reply with R=0 that this end cannot live with.
  kConnectionClosed,
  kTimeout,
  kLocalError,
};

/// The transitions of an initiator.
[[nodiscard]] InitiatorState next_state(InitiatorState state, InitiatorEvent event);

/// The Reply is still due.
struct Pending {};

/// Full Operation begins (RFC 5044 §7.1.2 rule 3).
struct Accepted {
  Agreed agreed;  ///< What holds from now on.
  /// What to send before anything else, kNone in the client-server model. A Read RTR is the
  /// provider's own and is sent even if the ORD is 0.
  Rtr rtr = Rtr::kNone;
  ConstBytes private_data;  ///< The responder's.
};

/// The peer refused; the TCP connection is left open to the ULP (RFC 5044 §7.1.2 rule 3).
struct Rejected {
  std::optional<EnhancedData> peer;  ///< Its IRD and ORD, to be passed to the ULP.
  ConstBytes private_data;           ///< The responder's.
};

/// A Terminate to be sent as the first FPDU before the connection is closed (RFC 6581 §9).
struct TerminateOrder {
  std::uint8_t code = 0;  ///< Layer 2 (LLP), error type 0 (MPA).
  StreamModes modes;      ///< How to frame it.
};

/// The start-up failed: the TCP connection is to be closed, behind the Terminate if there is one.
struct Failed {
  Error error = Error::kLocalCatastrophic;  ///< Why.
  std::optional<TerminateOrder> terminate;  ///< What the peer is told, if anything.
  /// Whether revision_1_fallback() may be tried on a new connection.
  Fallback fallback = Fallback::kForbidden;
};

/// Spans refer into the Initiator: valid as long as it stays where it is.
using InitiatorOutcome = std::variant<Pending, Accepted, Rejected, Failed>;

/// The initiator's side of the start-up (RFC 5044 §7.1, RFC 6581): a Request goes out, a Reply
/// comes in. The caller owns the connection and the timer. Not thread-safe.
class Initiator {
 public:
  /// Errors: kPrivateDataTooLong, kInvalidOptions (peer-to-peer required of a format without it or
  /// with no RTR indication, depths out of bounds).
  static Result<Initiator, Error> create(const InitiatorOptions& options);

  /// The Request Frame: the first octets to send.
  [[nodiscard]] ConstBytes request() const { return {request_.data(), request_size_}; }

  /// Takes what belongs to the Reply from the front of `bytes` and returns how many octets that is;
  /// what is behind belongs to Full Operation. Takes nothing once the Reply is done with.
  std::size_t receive(ConstBytes bytes);
  /// The TCP connection was closed by the peer, or lost.
  void on_closed();
  /// The caller's timer for the Reply ran out.
  void on_timeout();
  /// This end cannot go on. After an accepting Reply the peer is told by a Terminate (RFC 6581
  /// §9.3).
  void on_local_error();

  /// Where the start-up stands.
  [[nodiscard]] InitiatorState state() const { return state_; }
  /// What came of it so far.
  [[nodiscard]] InitiatorOutcome outcome() const;

 private:
  explicit Initiator(const InitiatorOptions& options);

  void apply(InitiatorEvent event, Error error = Error::kLocalCatastrophic);
  void judge_reply();
  std::optional<Error> check_reply(const StartupFrameView& reply) const;
  std::optional<Error> settle(const StartupFrameView& reply);
  [[nodiscard]] bool may_fall_back() const;

  InitiatorOptions options_;
  std::size_t request_size_ = 0;
  std::array<std::byte, kMaxStartupFrameSize> request_{};
  StartupReader reader_{FrameKind::kReply};
  InitiatorState state_ = InitiatorState::kAwaitingReply;
  Agreed agreed_;
  Rtr rtr_ = Rtr::kNone;
  Failed failed_;
};

}  // namespace iwarp::mpa
