#include "iwarp/ddp/error.hpp"

namespace iwarp::ddp {
namespace {

// RFC 5041 §7.2.
constexpr std::uint8_t kLocalCatastrophic = 0;
constexpr std::uint8_t kTagged = 1;
constexpr std::uint8_t kUntagged = 2;

struct Row {
  ErrorNumber number;
  const char* text;
};

constexpr Row row(Error error) {
  switch (error) {
    case Error::kTruncatedHeader:
      return {{kLocalCatastrophic, 0x00}, "segment shorter than its header"};
    case Error::kTaggedVersion: return {{kTagged, 0x04}, "invalid DDP version (tagged)"};
    case Error::kUntaggedVersion: return {{kUntagged, 0x06}, "invalid DDP version (untagged)"};
    case Error::kInvalidStag: return {{kTagged, 0x00}, "invalid STag"};
    case Error::kBoundsViolation: return {{kTagged, 0x01}, "base or bounds violation"};
    case Error::kStagNotAssociated: return {{kTagged, 0x02}, "STag not associated with the stream"};
    case Error::kTaggedOffsetWrap: return {{kTagged, 0x03}, "Tagged Offset wraps"};
    case Error::kAccessViolation: return {{kTagged, 0x00}, "access right missing"};
    case Error::kInvalidQueueNumber: return {{kUntagged, 0x01}, "invalid Queue Number"};
    case Error::kNoBuffer: return {{kUntagged, 0x02}, "no receive buffer posted"};
    case Error::kMsnOutOfRange: return {{kUntagged, 0x03}, "MSN out of range"};
    case Error::kInvalidMessageOffset: return {{kUntagged, 0x04}, "invalid Message Offset"};
    case Error::kMessageTooLong: return {{kUntagged, 0x05}, "message too long for its buffer"};
    case Error::kMemoryFault:
      return {{kLocalCatastrophic, 0x00}, "memory of the buffer is missing"};
  }
  return {{kLocalCatastrophic, 0}, "unknown"};
}

}  // namespace

ErrorNumber error_number(Error error) { return row(error).number; }
const char* describe(Error error) { return row(error).text; }

}  // namespace iwarp::ddp
