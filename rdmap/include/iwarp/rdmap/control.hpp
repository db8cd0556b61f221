#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "iwarp/base/strong_id.hpp"

namespace iwarp::rdmap {

/// RDMA Message opcodes (RFC 5040 §4.1, Figure 4; from kImmediate on RFC 7306 §4.1, Figure 2).
enum class Opcode : std::uint8_t {
  kWrite = 0,
  kReadRequest = 1,
  kReadResponse = 2,
  kSend = 3,
  kSendInvalidate = 4,
  kSendSolicited = 5,
  kSendSolicitedInvalidate = 6,
  kTerminate = 7,
  kImmediate = 8,
  kImmediateSolicited = 9,
  kAtomicRequest = 10,
  kAtomicResponse = 11,
};

/// Octets that an Immediate Data Message carries (RFC 7306 §6.2).
inline constexpr std::size_t kImmediateSize = 8;

/// Untagged queues of RDMAP (RFC 5040 §5, RFC 7306 §4.1).
inline constexpr QueueNumber kSendQueueNumber{0};            ///< Sends and Immediate Data.
inline constexpr QueueNumber kReadRequestQueueNumber{1};     ///< Read and Atomic Requests.
inline constexpr QueueNumber kTerminateQueueNumber{2};       ///< Terminates.
inline constexpr QueueNumber kAtomicResponseQueueNumber{3};  ///< Atomic Responses.
inline constexpr std::uint32_t kQueueCount = 4;              ///< How many there are, with RFC 7306.

/// Whether an end takes part in RFC 7306. One that does not treats its opcodes as unexpected and
/// knows no queue 3.
enum class Extensions : bool { kNone, kRfc7306 };
/// How many untagged queues an end knows.
inline constexpr std::uint32_t queue_count(Extensions extensions) {
  return extensions == Extensions::kRfc7306 ? kQueueCount : kAtomicResponseQueueNumber.value();
}

/// How DDP places a message (RFC 5041 §2.1).
enum class BufferModel : bool { kUntagged, kTagged };

/// How a message of some opcode uses DDP, and what it means to its receiver (Figures 4 and 5).
struct OpcodeTraits {
  const char* name = nullptr;                  ///< As the RFCs call the message.
  BufferModel model = BufferModel::kUntagged;  ///< How DDP places it.
  QueueNumber qn{};                            ///< Untagged messages only.
  bool solicited = false;                      ///< Whether it asks for a solicited event.
  bool invalidates = false;                    ///< Whether it ends an STag of its receiver.
};

/// The row of an opcode; null for reserved opcodes and those of extensions that are not in force.
const OpcodeTraits* traits(std::uint8_t opcode, Extensions extensions = Extensions::kRfc7306);
/// The row of a known opcode.
inline const OpcodeTraits& traits(Opcode opcode) {
  return *traits(static_cast<std::uint8_t>(opcode));
}

/// The RDMAP Control Field (RFC 5040 §4.1): version, reserved bits, opcode.
struct Control {
  std::uint8_t version = 1;  ///< 1 for RFC 5040.
  std::uint8_t opcode = 0;   ///< An Opcode, or what a peer made of it; four bits.
};
/// Takes the octet apart; every octet is some control field.
Control decode_control(std::uint8_t octet);
/// The octet for an opcode, with version 1.
std::uint8_t encode_control(Opcode opcode);

}  // namespace iwarp::rdmap
