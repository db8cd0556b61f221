#pragma once

#include <cstdint>

namespace iwarp::mpa {

/// Why MPA gave up, or refused to begin.
enum class Error {
  // The stream (RFC 5044 §8).
  kConnectionLost,  ///< TCP was closed or reset, or gave up.
  kTimeout,         ///< The caller's timer ran out before the start-up was done.
  kCrcMismatch,     ///< The CRC field of an FPDU is not the CRC of the FPDU.
  kMarkerMismatch,  ///< A Marker and the ULPDU_Length fields disagree on where an FPDU starts.

  // Start-up frames (RFC 5044 §7.1, RFC 6581 §6): the TCP connection is closed.
  kTruncated,            ///< The frame is not whole.
  kBadKey,               ///< The peer does not speak MPA: neither key matches.
  kBothInitiators,       ///< A Request where the Reply was due (§7.1.2 rule 8).
  kBothResponders,       ///< A Reply where the Request was due.
  kUnsupportedRevision,  ///< A revision other than 1 and 2.
  kRevisionMismatch,     ///< The Reply's revision is not the Request's.
  kPrivateDataTooLong,   ///< More than 512 octets in all, or than fit behind the enhanced data.
  kMissingEnhancedData,  ///< S is set but PD_Length has no room for the four octets it announces.
  kUnenhancedReply,      ///< An accepting Reply without S to a Request with S (RFC 6581 §10).
  kUnexpectedEnhancedReply,  ///< A Reply with S to a revision 2 Request without S.
  kUnexpectedOctets,         ///< The peer sent more than PD_Length told, before it saw a Reply.

  // Enhanced connection establishment (RFC 6581 §8).
  kLocalCatastrophic,  ///< This end failed in a way that has no code of its own.
  kInsufficientIrd,    ///< An end cannot serve as many inbound RDMA Reads as the other needs.
  kNoMatchingRtr,      ///< No RTR indication, or no connection model, suits both ends.

  // The caller.
  kInvalidOptions,  ///< Options that contradict each other or do not fit their field.
  kWrongState,      ///< The call does not fit the state of the start-up.
};

/// The Terminate error code for layer 2 (LLP), error type 0 (MPA): RFC 5044 §8 and RFC 6581 §8.
[[nodiscard]] std::uint8_t terminate_code(Error error);

/// A short English description, for logs; never null.
[[nodiscard]] const char* describe(Error error);

}  // namespace iwarp::mpa
