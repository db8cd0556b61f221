#pragma once

#include <cstdint>
#include <optional>

#include "iwarp/base/strong_id.hpp"

namespace iwarp::rdmap {

/// RDMA Message opcodes (RFC 5040 §4.1, Figure 4).
enum class Opcode : std::uint8_t {
  kWrite = 0,
  kReadRequest = 1,
  kReadResponse = 2,
  kSend = 3,
  kSendInvalidate = 4,
  kSendSolicited = 5,
  kSendSolicitedInvalidate = 6,
  kTerminate = 7,
};

/// Untagged queues of RDMAP (RFC 5040 §5).
inline constexpr QueueNumber kSendQueueNumber{0};
inline constexpr QueueNumber kReadRequestQueueNumber{1};
inline constexpr QueueNumber kTerminateQueueNumber{2};
inline constexpr std::uint32_t kQueueCount = 3;

enum class BufferModel : bool { kUntagged, kTagged };

/// How a message of some opcode uses DDP, and what it means to its receiver (Figures 4 and 5).
struct OpcodeTraits {
  const char* name = nullptr;
  BufferModel model = BufferModel::kUntagged;
  QueueNumber qn{};  ///< Untagged messages only.
  bool solicited = false;
  bool invalidates = false;
};

/// The row of an opcode; null for reserved opcodes.
const OpcodeTraits* traits(std::uint8_t opcode);
inline const OpcodeTraits& traits(Opcode opcode) {
  return *traits(static_cast<std::uint8_t>(opcode));
}

/// The RDMAP Control Field (RFC 5040 §4.1): version, reserved bits, opcode.
struct Control {
  std::uint8_t version = 1;  ///< 1 for RFC 5040.
  std::uint8_t opcode = 0;
};
Control decode_control(std::uint8_t octet);
std::uint8_t encode_control(Opcode opcode);

}  // namespace iwarp::rdmap
