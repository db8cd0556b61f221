#include "iwarp/rdmap/error.hpp"

namespace iwarp::rdmap {
namespace {

struct Name {
  Cause cause;
  const char* text;
};

// RFC 5040 Figure 9, RFC 5041 §7.2, RFC 5044 §8, RFC 6581 §8.
constexpr Name kNames[] = {
    {{Layer::kRdmap, 1, 0x00}, "RDMAP: invalid STag"},
    {{Layer::kRdmap, 1, 0x01}, "RDMAP: base or bounds violation"},
    {{Layer::kRdmap, 1, 0x02}, "RDMAP: access rights violation"},
    {{Layer::kRdmap, 1, 0x03}, "RDMAP: STag not associated with the stream"},
    {{Layer::kRdmap, 1, 0x04}, "RDMAP: Tagged Offset wraps"},
    {{Layer::kRdmap, 1, 0x09}, "RDMAP: STag cannot be invalidated"},
    {{Layer::kRdmap, 1, 0xFF}, "RDMAP: unspecified protection error"},
    {{Layer::kRdmap, 2, 0x05}, "RDMAP: invalid version"},
    {{Layer::kRdmap, 2, 0x06}, "RDMAP: unexpected opcode"},
    {{Layer::kRdmap, 2, 0x07}, "RDMAP: catastrophic error of the stream"},
    {{Layer::kRdmap, 2, 0x08}, "RDMAP: catastrophic error, global"},
    {{Layer::kRdmap, 2, 0x09}, "RDMAP: STag cannot be invalidated"},
    {{Layer::kRdmap, 2, 0xFF}, "RDMAP: unspecified operation error"},
    {{Layer::kDdp, 0, 0x00}, "DDP: local catastrophic error"},
    {{Layer::kDdp, 1, 0x00}, "DDP: invalid STag"},
    {{Layer::kDdp, 1, 0x01}, "DDP: base or bounds violation"},
    {{Layer::kDdp, 1, 0x02}, "DDP: STag not associated with the stream"},
    {{Layer::kDdp, 1, 0x03}, "DDP: Tagged Offset wraps"},
    {{Layer::kDdp, 1, 0x04}, "DDP: invalid version (tagged)"},
    {{Layer::kDdp, 2, 0x01}, "DDP: invalid Queue Number"},
    {{Layer::kDdp, 2, 0x02}, "DDP: no receive buffer posted"},
    {{Layer::kDdp, 2, 0x03}, "DDP: MSN out of range"},
    {{Layer::kDdp, 2, 0x04}, "DDP: invalid Message Offset"},
    {{Layer::kDdp, 2, 0x05}, "DDP: message too long for its buffer"},
    {{Layer::kDdp, 2, 0x06}, "DDP: invalid version (untagged)"},
    {{Layer::kLlp, 0, 0x01}, "MPA: connection closed or lost"},
    {{Layer::kLlp, 0, 0x02}, "MPA: CRC mismatch"},
    {{Layer::kLlp, 0, 0x03}, "MPA: marker and length disagree"},
    {{Layer::kLlp, 0, 0x04}, "MPA: invalid request or reply frame"},
    {{Layer::kLlp, 0, 0x05}, "MPA: local catastrophic error"},
    {{Layer::kLlp, 0, 0x06}, "MPA: insufficient IRD resources"},
    {{Layer::kLlp, 0, 0x07}, "MPA: no matching RTR option"},
};

}  // namespace

Cause cause_of(Error error) {
  const auto protection = [](std::uint8_t code) {
    return Cause{Layer::kRdmap, kTypeRemoteProtection, code};
  };
  const auto operation = [](std::uint8_t code) {
    return Cause{Layer::kRdmap, kTypeRemoteOperation, code};
  };
  switch (error) {
    case Error::kLocalCatastrophic: return {Layer::kRdmap, kTypeLocalCatastrophic, 0};
    case Error::kInvalidStag: return protection(0x00);
    case Error::kBoundsViolation: return protection(0x01);
    case Error::kAccessViolation: return protection(0x02);
    case Error::kStagNotAssociated: return protection(0x03);
    case Error::kTaggedOffsetWrap: return protection(0x04);
    case Error::kCannotInvalidate: return protection(0x09);
    case Error::kUnspecifiedProtection: return protection(0xFF);
    case Error::kInvalidVersion: return operation(0x05);
    case Error::kUnexpectedOpcode: return operation(0x06);
    case Error::kStreamCatastrophic: return operation(0x07);
    case Error::kUnspecifiedOperation: return operation(0xFF);
  }
  return operation(0xFF);
}

Cause cause_of(ddp::Error error) {
  const ddp::ErrorNumber number = ddp::error_number(error);
  return {Layer::kDdp, number.type, number.code};
}

Error protection_error(ddp::Error error) {
  switch (error) {
    case ddp::Error::kInvalidStag: return Error::kInvalidStag;
    case ddp::Error::kBoundsViolation: return Error::kBoundsViolation;
    case ddp::Error::kAccessViolation: return Error::kAccessViolation;
    case ddp::Error::kStagNotAssociated: return Error::kStagNotAssociated;
    case ddp::Error::kTaggedOffsetWrap: return Error::kTaggedOffsetWrap;
    default: return Error::kUnspecifiedProtection;
  }
}

const char* describe(const Cause& cause) {
  if (cause.layer == Layer::kRdmap && cause.type == kTypeLocalCatastrophic) {
    return "RDMAP: local catastrophic error";  // any code
  }
  for (const Name& name : kNames) {
    if (name.cause == cause) return name.text;
  }
  return "unknown error";
}

}  // namespace iwarp::rdmap
