#include "iwarp/rdmap/atomic.hpp"

#include <atomic>

namespace iwarp::rdmap {
namespace {

// RFC 7306 Figure 4. The first word is 28 reserved bits and the AOpCode.
constexpr std::size_t kAopcodeAt = 3;
constexpr std::size_t kIdAt = 4;
constexpr std::size_t kStagAt = 8;
constexpr std::size_t kToAt = 12;
constexpr std::size_t kDataAt = 20;
constexpr std::size_t kMaskAt = 28;
constexpr std::size_t kCompareAt = 36;
constexpr std::size_t kCompareMaskAt = 44;
constexpr unsigned kAopcodeMask = 0x0F;

// Figure 6.
constexpr std::size_t kOriginalIdAt = 0;
constexpr std::size_t kOriginalAt = 4;

// Without their most significant bits two fields add up without a carry to the next one; those bits
// add up without a carry by themselves.
std::uint64_t add_fields(std::uint64_t a, std::uint64_t b, std::uint64_t boundaries) {
  return ((a & ~boundaries) + (b & ~boundaries)) ^ ((a ^ b) & boundaries);
}

}  // namespace

std::uint64_t apply(AtomicOpcode opcode, const AtomicOperands& operands, std::uint64_t original) {
  if (opcode == AtomicOpcode::kFetchAdd) {
    return add_fields(original, operands.data, operands.mask);
  }
  if (((operands.compare ^ original) & operands.compare_mask) != 0) return original;
  return (original & ~operands.mask) | (operands.data & operands.mask);
}

Result<std::uint64_t, MemoryFault> perform(AtomicOpcode opcode, const AtomicOperands& operands,
                                           std::byte* at) {
  std::uint64_t original = 0;
  const auto fault = guarded({at, kAtomicSize}, [&original, &operands, opcode, at] {
    const std::atomic_ref<std::uint64_t> word(*reinterpret_cast<std::uint64_t*>(at));
    original = word.load();
    while (!word.compare_exchange_weak(original, apply(opcode, operands, original))) {
    }
  });
  if (fault) return failure(fault);
  return original;
}

std::optional<AtomicOpcode> AtomicRequest::operation() const {
  switch (opcode) {
    case static_cast<std::uint8_t>(AtomicOpcode::kFetchAdd): return AtomicOpcode::kFetchAdd;
    case static_cast<std::uint8_t>(AtomicOpcode::kCmpSwap): return AtomicOpcode::kCmpSwap;
    default: return std::nullopt;
  }
}

void AtomicRequest::encode(std::byte* at) const {
  store_be(at, std::uint32_t{opcode});
  store_be(at + kIdAt, id);
  store_be(at + kStagAt, stag.value());
  store_be(at + kToAt, to.value());
  store_be(at + kDataAt, operands.data);
  store_be(at + kMaskAt, operands.mask);
  store_be(at + kCompareAt, operands.compare);
  store_be(at + kCompareMaskAt, operands.compare_mask);
}

std::optional<AtomicRequest> AtomicRequest::parse(ConstBytes bytes) {
  if (bytes.size() != kSize) return std::nullopt;
  return AtomicRequest{
      static_cast<std::uint8_t>(std::to_integer<unsigned>(bytes[kAopcodeAt]) & kAopcodeMask),
      load_be<std::uint32_t>(&bytes[kIdAt]),
      Stag{load_be<std::uint32_t>(&bytes[kStagAt])},
      TaggedOffset{load_be<std::uint64_t>(&bytes[kToAt])},
      {load_be<std::uint64_t>(&bytes[kDataAt]), load_be<std::uint64_t>(&bytes[kMaskAt]),
       load_be<std::uint64_t>(&bytes[kCompareAt]), load_be<std::uint64_t>(&bytes[kCompareMaskAt])}};
}

void AtomicResponse::encode(std::byte* at) const {
  store_be(at + kOriginalIdAt, id);
  store_be(at + kOriginalAt, original);
}

std::optional<AtomicResponse> AtomicResponse::parse(ConstBytes bytes) {
  if (bytes.size() != kSize) return std::nullopt;
  return AtomicResponse{load_be<std::uint32_t>(&bytes[kOriginalIdAt]),
                        load_be<std::uint64_t>(&bytes[kOriginalAt])};
}

}  // namespace iwarp::rdmap
