#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {
namespace {

constexpr std::uint32_t kIndexBits = 24;
constexpr std::uint32_t kKeyBits = 8;
constexpr std::uint32_t kSlotBits = 20;
constexpr std::uint32_t kHalfBits = kIndexBits / 2;
constexpr std::uint32_t kHalfMask = (1U << kHalfBits) - 1U;
constexpr std::uint32_t kGenerationMask = (1U << (kIndexBits - kSlotBits)) - 1U;
// No buffer has this STag: a slot that holds it names nothing.
constexpr std::uint32_t kNoStag = 0;

std::uint64_t mix(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

// The round function of a Feistel network over two halves of twelve bits.
std::uint32_t round_of(std::uint32_t half, std::uint32_t key) {
  std::uint32_t x = (half ^ key) * 0x85EBCA6BU;
  x ^= x >> 15U;
  x *= 0xC2B2AE35U;
  return (x >> 13U) & kHalfMask;
}

}  // namespace

// The STag in force says whether the buffer may be read; pins keep the buffer from being rewritten.
// Whoever pins adds to `pins` first and looks at `stag` second; whoever disables clears `stag`
// first and looks at `pins` second; both in sequentially consistent order, so one sees the other.
struct alignas(64) StagTable::Slot {
  std::atomic<std::uint32_t> stag{kNoStag};
  mutable std::atomic<std::uint32_t> pins{0};
  std::uint32_t generation = 0;
  TaggedBuffer buffer;
};

StagTable::Pin::~Pin() {
  if (slot_ != nullptr) slot_->pins.fetch_sub(1, std::memory_order_release);
  if (parent_ != nullptr) parent_->pins.fetch_sub(1, std::memory_order_release);
}

StagTable::StagTable(std::uint64_t secret)
    : chunks_(new std::atomic<Chunk*>[kMaxSlots / kSlotsPerChunk]()) {
  for (std::uint32_t& key : round_keys_) key = static_cast<std::uint32_t>(mix(secret));
}

StagTable::~StagTable() {
  for (std::uint32_t i = 0; i < kMaxSlots / kSlotsPerChunk; ++i) delete chunks_[i].load();
}

std::uint32_t StagTable::scramble(std::uint32_t value) const {
  std::uint32_t left = value >> kHalfBits;
  std::uint32_t right = value & kHalfMask;
  for (const std::uint32_t key : round_keys_) {
    left = std::exchange(right, left ^ round_of(right, key));
  }
  return left << kHalfBits | right;
}

std::uint32_t StagTable::unscramble(std::uint32_t value) const {
  std::uint32_t left = value >> kHalfBits;
  std::uint32_t right = value & kHalfMask;
  for (std::size_t i = round_keys_.size(); i > 0; --i) {
    right = std::exchange(left, right ^ round_of(left, round_keys_[i - 1]));
  }
  return left << kHalfBits | right;
}

std::uint32_t StagTable::slot_of(Stag stag) const {
  return unscramble(stag.value() >> kKeyBits) & (kMaxSlots - 1U);
}

StagTable::Slot* StagTable::find(std::uint32_t slot) const {
  Chunk* chunk = chunks_[slot / kSlotsPerChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &(*chunk)[slot % kSlotsPerChunk];
}

StagTable::Slot& StagTable::make(std::uint32_t slot) {
  std::atomic<Chunk*>& chunk = chunks_[slot / kSlotsPerChunk];
  if (chunk.load() == nullptr) chunk.store(new Chunk, std::memory_order_release);
  return *find(slot);
}

Stag StagTable::enable(std::uint32_t slot, std::uint8_t key, const TaggedBuffer& buffer) {
  Slot& entry = make(slot);
  entry.buffer = buffer;
  std::uint32_t stag = kNoStag;
  while (stag == kNoStag) {
    entry.generation = (entry.generation + 1U) & kGenerationMask;
    stag = index_of(entry, slot) << kKeyBits | key;
  }
  entry.stag.store(stag);
  return Stag{stag};
}

std::uint32_t StagTable::index_of(const Slot& entry, std::uint32_t slot) const {
  return scramble(entry.generation << kSlotBits | slot);
}

Stag StagTable::reserve(std::uint32_t slot, std::uint8_t key) {
  Slot& entry = make(slot);
  do {  // under index 0 one of the keys would make no STag
    entry.generation = (entry.generation + 1U) & kGenerationMask;
  } while (index_of(entry, slot) == 0);
  return Stag{index_of(entry, slot) << kKeyBits | key};
}

Activation StagTable::activate(Stag stag, const TaggedBuffer& buffer) {
  const std::uint32_t slot = slot_of(stag);
  Slot* entry = find(slot);
  if (entry == nullptr || index_of(*entry, slot) != stag.value() >> kKeyBits) {
    return Activation::kRefused;
  }
  if (entry->stag.load() != kNoStag) return Activation::kRefused;
  if (entry->pins.load() != 0) return Activation::kBusy;
  entry->buffer = buffer;
  entry->stag.store(stag.value());
  return Activation::kDone;
}

bool StagTable::disable(Stag stag) {
  Slot* entry = find(slot_of(stag));
  std::uint32_t current = stag.value();
  return entry != nullptr && current != kNoStag &&
         entry->stag.compare_exchange_strong(current, kNoStag);
}

bool StagTable::in_force(Stag stag) const {
  const Slot* entry = find(slot_of(stag));
  return entry != nullptr && stag.value() != kNoStag && entry->stag.load() == stag.value();
}

bool StagTable::idle(std::uint32_t slot) const {
  const Slot* entry = find(slot);
  return entry == nullptr || entry->pins.load() == 0;
}

// Pins a buffer for what is asked of the whole of it.
std::optional<Error> StagTable::pin_slot(Pin& held, Stag stag, const Accessor& by,
                                         Rights wanted) const {
  Slot* entry = find(slot_of(stag));
  if (entry == nullptr || stag.value() == kNoStag) return Error::kInvalidStag;
  entry->pins.fetch_add(1);
  held.slot_ = entry;
  if (entry->stag.load() != stag.value()) return Error::kInvalidStag;
  const TaggedBuffer& buffer = entry->buffer;
  if (buffer.pd != by.pd) return Error::kStagNotAssociated;
  if (buffer.stream != kAnyStream && buffer.stream != by.stream) return Error::kStagNotAssociated;
  if (!includes(buffer.rights, wanted)) return Error::kAccessViolation;
  return std::nullopt;
}

Result<StagTable::Pin, Error> StagTable::pin(Stag stag, const Accessor& by, Rights wanted,
                                             TaggedOffset to, std::uint64_t length) const {
  Pin held;
  if (const auto error = pin_slot(held, stag, by, wanted)) return failure(*error);
  const TaggedBuffer& buffer = held.slot_->buffer;
  if (to.value() + length < to.value()) return failure(Error::kTaggedOffsetWrap);
  const std::uint64_t from_base = to.value() - buffer.base.value();
  if (to < buffer.base || from_base > buffer.length || length > buffer.length - from_base) {
    return failure(Error::kBoundsViolation);
  }
  if (buffer.parent != Stag{kNoStag} && !pin_parent(held, buffer.parent)) {
    return failure(Error::kInvalidStag);
  }
  held.memory_ = buffer.memory + from_base;
  return held;
}

bool StagTable::pin_parent(Pin& held, Stag parent) const {
  Slot* entry = find(slot_of(parent));
  if (entry == nullptr) return false;
  entry->pins.fetch_add(1);
  held.parent_ = entry;
  return entry->stag.load() == parent.value();
}

Result<void, Error> StagTable::invalidate_for_peer(Stag stag, const Accessor& by) {
  {
    Pin held;
    const auto error = pin_slot(held, stag, by, Rights::kRemoteInvalidate);
    if (error) return failure(*error);
  }
  // Somebody else may have ended it since: then there is nothing left to invalidate.
  if (!disable(stag)) return failure(Error::kInvalidStag);
  return {};
}

}  // namespace iwarp::ddp
