#include "iwarp/mpa/error.hpp"

namespace iwarp::mpa {
namespace {

// RFC 5044 §8.
constexpr std::uint8_t kCodeConnectionLost = 1;
constexpr std::uint8_t kCodeCrc = 2;
constexpr std::uint8_t kCodeMarker = 3;
constexpr std::uint8_t kCodeStartupFrame = 4;
// RFC 6581 §8.
constexpr std::uint8_t kCodeLocalCatastrophic = 5;
constexpr std::uint8_t kCodeInsufficientIrd = 6;
constexpr std::uint8_t kCodeNoMatchingRtr = 7;

}  // namespace

std::uint8_t terminate_code(Error error) {
  switch (error) {
    case Error::kConnectionLost:
    case Error::kTimeout: return kCodeConnectionLost;
    case Error::kCrcMismatch: return kCodeCrc;
    case Error::kMarkerMismatch: return kCodeMarker;
    case Error::kTruncated:
    case Error::kBadKey:
    case Error::kBothInitiators:
    case Error::kBothResponders:
    case Error::kUnsupportedRevision:
    case Error::kRevisionMismatch:
    case Error::kPrivateDataTooLong:
    case Error::kMissingEnhancedData:
    case Error::kUnenhancedReply:
    case Error::kUnexpectedEnhancedReply:
    case Error::kUnexpectedOctets: return kCodeStartupFrame;
    case Error::kInsufficientIrd: return kCodeInsufficientIrd;
    case Error::kNoMatchingRtr: return kCodeNoMatchingRtr;
    case Error::kLocalCatastrophic:
    case Error::kInvalidOptions:
    case Error::kWrongState: return kCodeLocalCatastrophic;
  }
  return kCodeLocalCatastrophic;
}

const char* describe(Error error) {
  switch (error) {
    case Error::kConnectionLost: return "the TCP connection was closed or lost";
    case Error::kTimeout: return "the MPA start-up timed out";
    case Error::kCrcMismatch: return "the CRC of an FPDU does not match";
    case Error::kMarkerMismatch: return "an MPA marker does not point to the start of its FPDU";
    case Error::kTruncated: return "the MPA start-up frame is truncated";
    case Error::kBadKey: return "the peer does not speak MPA (bad key)";
    case Error::kBothInitiators: return "both ends started as MPA initiator";
    case Error::kBothResponders: return "both ends started as MPA responder";
    case Error::kUnsupportedRevision: return "the peer's MPA revision is neither 1 nor 2";
    case Error::kRevisionMismatch: return "the MPA reply has another revision than the request";
    case Error::kPrivateDataTooLong: return "the private data is too long";
    case Error::kMissingEnhancedData:
      return "the enhanced connection data announced by the S bit is missing";
    case Error::kUnenhancedReply: return "the MPA reply to an enhanced request is not enhanced";
    case Error::kUnexpectedEnhancedReply:
      return "the MPA reply to an unenhanced request is enhanced";
    case Error::kUnexpectedOctets:
      return "the peer sent more than its MPA request before the reply";
    case Error::kLocalCatastrophic: return "a local error ended the MPA start-up";
    case Error::kInsufficientIrd: return "insufficient inbound RDMA read resources";
    case Error::kNoMatchingRtr: return "no matching RTR indication or connection model";
    case Error::kInvalidOptions: return "the options contradict each other";
    case Error::kWrongState: return "the call does not fit the state of the MPA start-up";
  }
  return "unknown MPA error";
}

}  // namespace iwarp::mpa
