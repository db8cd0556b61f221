#pragma once

#include <cstdint>

namespace iwarp {

/// The Ready To Receive indications: what an initiator in the peer-to-peer model sends first (RFC
/// 6581 §9.2). Each is an RDMAP message without payload. As flags of a set.
enum class Rtr : std::uint8_t { kNone = 0, kSend = 1, kWrite = 2, kRead = 4 };

}  // namespace iwarp
