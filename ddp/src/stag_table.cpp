#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {
namespace {

// No buffer has this STag: a slot that holds it names nothing.
constexpr std::uint32_t kNoStag = 0;
// Uses of a slot: copies under way in the lower half, what is lent in the upper one.
constexpr std::uint64_t kCopy = 1;
constexpr std::uint64_t kLent = std::uint64_t{1} << 32U;
constexpr std::uint64_t kCopies = kLent - 1U;
constexpr std::size_t kSlotsPerChunk = 256;
constexpr std::uint32_t kFirstHomes = 2048;
// Homes of a directory for each STag that is taken: the fewer are taken, the fewer values the order
// of names passes over.
constexpr std::uint32_t kHomesPerStag = 4;

}  // namespace

// The STag in force says whether the buffer may be read; uses keep the buffer from being rewritten.
// A thread that pins adds to `uses` first and looks at `stag` second; a thread that ends clears
// `stag` first and looks at `uses` second; both in sequentially consistent order, so one sees the
// other. Whatever a pin looks at lies in the first 64 octets, unless the buffer is a window.
struct alignas(64) StagTable::Slot {
  std::atomic<std::uint32_t> stag{kNoStag};
  Stag name;  // what it was handed out as; the owner's
  std::atomic<std::uint64_t> uses{0};
  TaggedBuffer buffer;
  std::uint64_t registration = 0;
};

// Where the slot of an STag is found: at its place, modulo the number of homes. Each home has one
// slot at a time, so that a look-up is one step.
struct StagTable::Directory {
  explicit Directory(std::uint32_t size) : homes(new std::atomic<Slot*>[size]()), mask(size - 1U) {}
  [[nodiscard]] std::atomic<Slot*>& at(std::uint32_t place) const { return homes[place & mask]; }

  std::unique_ptr<std::atomic<Slot*>[]> homes;
  std::uint32_t mask;
};

// ---- Pins ----

StagTable::Pin::~Pin() {
  if (slot_ != nullptr) slot_->uses.fetch_sub(use_, std::memory_order_release);
  if (parent_ != nullptr) parent_->uses.fetch_sub(use_, std::memory_order_release);
}

// What is held keeps its place and its rights, but its STag, or its parent's, may have ended.
std::byte* StagTable::Pin::reach(Stag stag, Rights wanted, TaggedOffset to,
                                 std::uint64_t length) const {
  if (slot_ == nullptr || stag.value() == kNoStag) return nullptr;
  if (slot_->stag.load() != stag.value()) return nullptr;
  if (parent_ != nullptr && parent_->stag.load() == kNoStag) return nullptr;
  if (!has(slot_->buffer.rights, wanted)) return nullptr;
  const auto memory = range(slot_->buffer, to, length);
  return memory ? *memory : nullptr;
}

Registration StagTable::Pin::registration() const { return {slot_, slot_->registration}; }

void StagTable::Pin::lend() {
  if (std::exchange(use_, kLent) == kLent) return;
  if (slot_ != nullptr) slot_->uses.fetch_add(kLent - kCopy);
  if (parent_ != nullptr) parent_->uses.fetch_add(kLent - kCopy);
}

// ---- What the owner does ----

StagTable::StagTable(std::uint64_t secret) : names_(secret) {
  directories_.push_back(std::make_unique<Directory>(kFirstHomes));
  directory_.store(directories_.back().get());
  // Nor does an STag tell how many came before it.
  next_ = {secret % StagNames::kTableNames, secret % StagNames::kOwnerPlaces};
}

StagTable::~StagTable() = default;

std::optional<Stag> StagTable::enable(const TaggedBuffer& buffer) {
  Slot* slot = take(KeyChoice::kTable);
  if (slot == nullptr) return std::nullopt;
  put_in_force(*slot, slot->name, buffer);
  return slot->name;
}

std::optional<Stag> StagTable::reserve(KeyChoice choice) {
  const Slot* slot = take(choice);
  return slot == nullptr ? std::nullopt : std::optional(slot->name);
}

// The next name whose home is vacant, with a slot.
StagTable::Slot* StagTable::take(KeyChoice choice) {
  if (taken_ == kMaxStags) return nullptr;
  if ((taken_ + 1U) * kHomesPerStag > directories_.back()->mask + 1U) grow();
  Slot* slot = vacant_slot();
  const Directory& directory = *directories_.back();
  std::uint64_t& next = next_[static_cast<std::size_t>(choice)];
  for (;; ++next) {
    if (directory.at(StagNames::place(choice, next)).load() != nullptr) continue;
    slot->name = names_.name(choice, next);
    if (index_of(slot->name) != kNoStag) break;  // under index 0 one of the keys makes no STag
  }
  directory.at(StagNames::place(choice, next++)).store(slot, std::memory_order_release);
  ++taken_;
  return slot;
}

StagTable::Slot* StagTable::vacant_slot() {
  if (!leaving_.empty() && leaving_.front()->uses.load() == 0) {
    free_.push_back(leaving_.front());
    leaving_.pop_front();
  }
  if (free_.empty()) {
    Slot* chunk = chunks_.emplace_back(new Slot[kSlotsPerChunk]).get();
    for (std::size_t i = kSlotsPerChunk; i > 0; --i) free_.push_back(&chunk[i - 1]);
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

// Homes that differ still do when there are twice as many.
void StagTable::grow() {
  const Directory& old = *directories_.back();
  auto larger = std::make_unique<Directory>(2U * (old.mask + 1U));
  for (std::uint32_t home = 0; home <= old.mask; ++home) {
    Slot* slot = old.at(home).load();
    if (slot != nullptr) larger->at(names_.place_of(slot->name)).store(slot);
  }
  directory_.store(larger.get(), std::memory_order_release);
  directories_.push_back(std::move(larger));
}

void StagTable::put_in_force(Slot& slot, Stag stag, const TaggedBuffer& buffer) {
  slot.buffer = buffer;
  slot.registration = ++registrations_;
  slot.stag.store(stag.value());
}

Activation StagTable::activate(Stag stag, const TaggedBuffer& buffer) {
  Slot* slot = own(stag);
  if (slot == nullptr) return Activation::kRefused;
  const bool key_is_fixed = StagNames::choice_of(names_.place_of(stag)) == KeyChoice::kTable;
  if (key_is_fixed && slot->name != stag) return Activation::kRefused;
  if (slot->stag.load() != kNoStag) return Activation::kRefused;
  if ((slot->uses.load() & kCopies) != 0) return Activation::kBusy;
  put_in_force(*slot, stag, buffer);
  return Activation::kDone;
}

void StagTable::end(Stag stag) {
  if (Slot* slot = own(stag)) slot->stag.store(kNoStag);
}

void StagTable::release(Stag stag) {
  Slot* slot = own(stag);
  if (slot == nullptr) return;
  directories_.back()->at(names_.place_of(stag)).store(nullptr);
  --taken_;
  if (slot->uses.load() == 0) {
    free_.push_back(slot);
  } else {
    leaving_.push_back(slot);
  }
}

Registration StagTable::registration_of(Stag stag) const {
  Slot* slot = own(stag);
  if (slot == nullptr || slot->stag.load() != stag.value()) return {};
  return {slot, slot->registration};
}

// The slot whose index `stag` has.
StagTable::Slot* StagTable::own(Stag stag) const {
  Slot* slot = find(stag);
  return slot == nullptr || index_of(slot->name) != index_of(stag) ? nullptr : slot;
}

// ---- What any thread does ----

// The slot that is at home where `stag` would be: its own if it has one.
StagTable::Slot* StagTable::find(Stag stag) const {
  const Directory& directory = *directory_.load(std::memory_order_acquire);
  return directory.at(names_.place_of(stag)).load(std::memory_order_acquire);
}

// An STag is in force in one slot at a time. Slots stay.
StagTable::Slot* StagTable::find(Stag stag, Recent& recent) const {
  const bool there = recent.slot_ != nullptr && stag.value() != kNoStag &&
                     recent.slot_->stag.load(std::memory_order_relaxed) == stag.value();
  if (!there) recent.slot_ = find(stag);
  return recent.slot_;
}

bool StagTable::disable(Stag stag) {
  Slot* slot = find(stag);
  std::uint32_t current = stag.value();
  return slot != nullptr && current != kNoStag &&
         slot->stag.compare_exchange_strong(current, kNoStag);
}

bool StagTable::in_force(Stag stag) const {
  const Slot* slot = find(stag);
  return slot != nullptr && stag.value() != kNoStag && slot->stag.load() == stag.value();
}

bool StagTable::idle(Stag stag) const {
  const Slot* slot = find(stag);
  return slot == nullptr || slot->uses.load() == 0;
}

// What has come into force since has waited for the copies before it.
bool StagTable::quiet(Stag stag) const {
  const Slot* slot = find(stag);
  return slot == nullptr || slot->stag.load() != kNoStag || (slot->uses.load() & kCopies) == 0;
}

// Pins a buffer for what is asked of the whole of it. A guess leaves no trace.
std::optional<Error> StagTable::pin_slot(Pin& held, Slot* slot, Stag stag, const Accessor& by,
                                         Rights wanted) {
  if (slot == nullptr || stag.value() == kNoStag) return Error::kInvalidStag;
  if (slot->stag.load(std::memory_order_relaxed) != stag.value()) return Error::kInvalidStag;
  slot->uses.fetch_add(kCopy);
  held.slot_ = slot;
  if (slot->stag.load() != stag.value()) return Error::kInvalidStag;
  const TaggedBuffer& buffer = slot->buffer;
  if (buffer.pd != by.pd) return Error::kStagNotAssociated;
  if (buffer.stream != kAnyStream && buffer.stream != by.stream) return Error::kStagNotAssociated;
  if (!has(buffer.rights, wanted)) return Error::kAccessViolation;
  return std::nullopt;
}

Result<StagTable::Pin, Error> StagTable::pin(Stag stag, const Accessor& by, Rights wanted,
                                             TaggedOffset to, std::uint64_t length,
                                             Recent& recent) const {
  Pin held;
  const auto error = pin_slot(held, find(stag, recent), stag, by, wanted);
  if (error) return failure(*error);
  const TaggedBuffer& buffer = held.slot_->buffer;
  const auto memory = range(buffer, to, length);
  if (!memory) return failure(memory.error());
  if (buffer.parent.slot_ != nullptr && !pin_parent(held, buffer.parent)) {
    return failure(Error::kInvalidStag);
  }
  held.memory_ = *memory;
  return held;
}

Result<std::byte*, Error> StagTable::range(const TaggedBuffer& buffer, TaggedOffset to,
                                           std::uint64_t length) {
  if (to.value() + length < to.value()) return failure(Error::kTaggedOffsetWrap);
  const std::uint64_t from_base = to.value() - buffer.base.value();
  if (to < buffer.base || from_base > buffer.length || length > buffer.length - from_base) {
    return failure(Error::kBoundsViolation);
  }
  return buffer.memory + from_base;
}

// A window was within its parent's domain, rights and bounds when it was bound, and a registration
// does not change: to be open it is enough that the parent still lives the same life.
bool StagTable::pin_parent(Pin& held, const Registration& parent) {
  Slot* slot = static_cast<Slot*>(parent.slot_);
  slot->uses.fetch_add(kCopy);
  held.parent_ = slot;
  return slot->stag.load() != kNoStag && slot->registration == parent.number_;
}

Result<void, Error> StagTable::invalidate_for_peer(Stag stag, const Accessor& by) {
  {
    Pin held;
    const auto error = pin_slot(held, find(stag), stag, by, Rights::kRemoteInvalidate);
    if (error) return failure(*error);
  }
  // Another thread may have ended it since: then there is nothing left to invalidate.
  if (!disable(stag)) return failure(Error::kInvalidStag);
  return {};
}

}  // namespace iwarp::ddp
