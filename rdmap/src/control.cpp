#include "iwarp/rdmap/control.hpp"

#include <array>

namespace iwarp::rdmap {
namespace {

constexpr unsigned kVersionShift = 6;
constexpr unsigned kOpcodeMask = 0x0F;
constexpr std::uint8_t kVersion = 1;

// The first opcode of RFC 7306.
constexpr auto kFirstExtension = static_cast<std::uint8_t>(Opcode::kImmediate);

// By opcode, RFC 5040 Figures 4 and 5, RFC 7306 Figures 2 and 3.
constexpr std::array<OpcodeTraits, 12> kTable{{
    {"RDMA Write", BufferModel::kTagged, {}, false, false},
    {"RDMA Read Request", BufferModel::kUntagged, kReadRequestQueueNumber, false, false},
    {"RDMA Read Response", BufferModel::kTagged, {}, false, false},
    {"Send", BufferModel::kUntagged, kSendQueueNumber, false, false},
    {"Send with Invalidate", BufferModel::kUntagged, kSendQueueNumber, false, true},
    {"Send with Solicited Event", BufferModel::kUntagged, kSendQueueNumber, true, false},
    {"Send with SE and Invalidate", BufferModel::kUntagged, kSendQueueNumber, true, true},
    {"Terminate", BufferModel::kUntagged, kTerminateQueueNumber, false, false},
    {"Immediate Data", BufferModel::kUntagged, kSendQueueNumber, false, false},
    {"Immediate Data with SE", BufferModel::kUntagged, kSendQueueNumber, true, false},
    {"Atomic Request", BufferModel::kUntagged, kReadRequestQueueNumber, false, false},
    {"Atomic Response", BufferModel::kUntagged, kAtomicResponseQueueNumber, false, false},
}};

}  // namespace

const OpcodeTraits* traits(std::uint8_t opcode, Extensions extensions) {
  if (extensions == Extensions::kNone && opcode >= kFirstExtension) return nullptr;
  return opcode < kTable.size() ? &kTable[opcode] : nullptr;
}

Control decode_control(std::uint8_t octet) {
  return {static_cast<std::uint8_t>(octet >> kVersionShift),
          static_cast<std::uint8_t>(octet & kOpcodeMask)};
}

std::uint8_t encode_control(Opcode opcode) {
  return static_cast<std::uint8_t>(kVersion << kVersionShift | static_cast<unsigned>(opcode));
}

}  // namespace iwarp::rdmap
