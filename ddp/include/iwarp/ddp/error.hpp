#pragma once

#include <cstdint>

namespace iwarp::ddp {

/// What can be wrong with a DDP Segment or with the buffer it names (RFC 5041 §7.1).
enum class Error : std::uint8_t {
  kTruncatedHeader,       ///< Shorter than its own header.
  kTaggedVersion,         ///< DV is not 1 in a tagged segment.
  kUntaggedVersion,       ///< DV is not 1 in an untagged segment.
  kInvalidStag,           ///< No buffer of that name.
  kBoundsViolation,       ///< The range does not lie inside the buffer.
  kStagNotAssociated,     ///< The buffer belongs to another protection domain or stream.
  kTaggedOffsetWrap,      ///< TO plus length passes 2^64.
  kAccessViolation,       ///< The buffer does not grant this access.
  kInvalidQueueNumber,    ///< No such untagged queue.
  kNoBuffer,              ///< No buffer is posted for the message.
  kMsnOutOfRange,         ///< Not the message that is due.
  kInvalidMessageOffset,  ///< Not where the message goes on.
  kMessageTooLong,        ///< The message does not fit its buffer.
  kMemoryFault,           ///< The memory of the buffer is not there any more.
};

/// Error type and code as DDP reports them upwards (RFC 5041 §7.2).
struct ErrorNumber {
  std::uint8_t type = 0;  ///< Error Type.
  std::uint8_t code = 0;  ///< Error Code.
  constexpr bool operator==(const ErrorNumber&) const = default;
};

/// The numbers that a data sink reports for `error`. DDP has none for missing access rights: the
/// STag has no buffer that allows the placement, which is an invalid STag.
ErrorNumber error_number(Error error);

/// A phrase for log lines: "invalid STag".
const char* describe(Error error);

}  // namespace iwarp::ddp
