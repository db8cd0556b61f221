#pragma once

#include <cstdint>

#include "iwarp/ddp/error.hpp"

namespace iwarp::rdmap {

/// What RDMAP itself finds wrong (RFC 5040 §4.8, Figure 9; §7.2).
enum class Error : std::uint8_t {
  kLocalCatastrophic,
  kInvalidStag,
  kBoundsViolation,
  kAccessViolation,
  kStagNotAssociated,
  kTaggedOffsetWrap,
  kCannotInvalidate,
  kUnspecifiedProtection,
  kInvalidVersion,
  kUnexpectedOpcode,
  kStreamCatastrophic,
  kUnspecifiedOperation,
};

/// The layer that found an error (Figure 9).
enum class Layer : std::uint8_t { kRdmap = 0, kDdp = 1, kLlp = 2 };

/// Layer, Error Type and Error Code as a Terminate carries them.
struct Cause {
  Layer layer = Layer::kRdmap;  ///< The layer that found it.
  std::uint8_t type = 0;        ///< Error Type.
  std::uint8_t code = 0;        ///< Error Code.
  constexpr bool operator==(const Cause&) const = default;
};

/// RDMAP error types (Figure 9).
inline constexpr std::uint8_t kTypeLocalCatastrophic = 0;  ///< Local Catastrophic Error.
inline constexpr std::uint8_t kTypeRemoteProtection = 1;   ///< Remote Protection Error.
inline constexpr std::uint8_t kTypeRemoteOperation = 2;    ///< Remote Operation Error.

/// The one mapping of errors to Terminate codes. LLP errors come as MPA's own code (RFC 5044 §8,
/// RFC 6581 §8), which has error type 0.
Cause cause_of(Error error);
/// The same for DDP's errors.
Cause cause_of(ddp::Error error);
/// The same for the lower layer's.
constexpr Cause cause_of_llp(std::uint8_t mpa_code) { return {Layer::kLlp, 0, mpa_code}; }

/// RDMAP's own error for a failed look-up of a Read's source or of an STag to invalidate.
Error protection_error(ddp::Error error);

/// A phrase for people: "DDP: invalid STag".
const char* describe(const Cause& cause);

}  // namespace iwarp::rdmap
