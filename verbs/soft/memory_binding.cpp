#include <algorithm>
#include <chrono>
#include <thread>

#include "soft/memory_registry.hpp"

/// STags that are set aside first and named memory is given to later: memory windows and fast
/// regions, as the work requests of a stream bring them into force and end them.
namespace iwarp::verbs::soft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kKeyMask = 0xFF;
// A device that sends from the program's memory may keep a slot busy until its peer acknowledges.
constexpr std::chrono::seconds kPatience{1};

// What a window may grant; the rest is the region's business.
bool is_remote_only(Access access) {
  constexpr Access kAllowed = Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic |
                              Access::kRemoteInvalidate | Access::kZeroBased;
  return has(kAllowed, access);
}

bool lets_peer_write(Access access) {
  return has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic);
}

}  // namespace

std::optional<Stag> MemoryRegistry::reserve(Reserved kind, ddp::ProtectionDomainId pd) {
  const std::lock_guard lock(mutex_);
  const auto slot = take_slot();
  if (!slot) return std::nullopt;
  const Stag stag = table_.reserve(*slot, static_cast<std::uint8_t>(random_()));
  reserved_[*slot] = {kind, pd, {}, {}};
  return stag;
}

void MemoryRegistry::release(Stag stag) {
  const std::uint32_t slot = table_.slot_of(stag);
  {
    const std::lock_guard lock(mutex_);
    reserved_.erase(slot);
  }
  // Nobody can bring it into force any more; it may be under any key.
  for (std::uint32_t key = 0; key <= kKeyMask; ++key) {
    if (table_.disable(Stag{(stag.value() & ~kKeyMask) | key})) break;
  }
  wait_until_idle(slot);
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
}

MemoryRegistry::Reservation* MemoryRegistry::find(Stag stag, const ddp::Accessor& by) {
  const auto entry = reserved_.find(table_.slot_of(stag));
  return entry == reserved_.end() || entry->second.pd != by.pd ? nullptr : &entry->second;
}

// What may keep a slot busy is a copy or system call under way, or a peer that guesses at keys.
bool MemoryRegistry::activate(Stag stag, const ddp::TaggedBuffer& buffer) {
  const auto give_up = Clock::now() + kPatience;
  auto result = table_.activate(stag, buffer);
  while (result == ddp::Activation::kBusy && Clock::now() < give_up) {
    std::this_thread::yield();
    result = table_.activate(stag, buffer);
  }
  return result == ddp::Activation::kDone;
}

bool MemoryRegistry::bind(const BindWr& request, const ddp::Accessor& by) {
  std::unique_lock lock(mutex_);
  Reservation* window = find(request.window, by);
  if (window == nullptr || window->kind == Reserved::kFastRegion) return false;
  if (!is_remote_only(request.access)) return false;
  const bool type1 = window->kind == Reserved::kWindow1;
  if (type1 && request.length == 0) {
    table_.disable(std::exchange(window->bound, Stag{}));
    lock.unlock();
    await_idle(table_.slot_of(request.window));
    return true;
  }
  const ddp::Rights needed = lets_peer_write(request.access)
                                 ? ddp::Rights::kWindowBind | ddp::Rights::kLocalWrite
                                 : ddp::Rights::kWindowBind;
  const TaggedOffset at{reinterpret_cast<std::uintptr_t>(request.address)};
  const auto region = table_.pin(request.region, by, needed, at, request.length);
  if (!region || request.length == 0) return false;
  ddp::TaggedBuffer buffer{region->memory(), at, request.length, by.pd, rights_of(request.access)};
  buffer.parent = request.region;
  if (has(request.access, Access::kZeroBased)) buffer.base = TaggedOffset{0};
  if (type1) {
    table_.disable(window->bound);
  } else {
    buffer.stream = by.stream;
    buffer.rights = buffer.rights | ddp::Rights::kRemoteInvalidate;
  }
  if (!activate(request.window, buffer)) return false;
  window->bound = request.window;
  window->region = request.region;
  return true;
}

bool MemoryRegistry::register_fast(const RegisterWr& request, const ddp::Accessor& by) {
  const auto* memory = static_cast<std::byte*>(request.address);
  const std::lock_guard lock(mutex_);
  const Reservation* region = find(request.stag, by);
  if (region == nullptr || region->kind != Reserved::kFastRegion) return false;
  auto buffer = buffer_of({const_cast<std::byte*>(memory), request.length}, by.pd, request.access);
  if (!buffer) return false;
  buffer->rights = buffer->rights | ddp::Rights::kRemoteInvalidate;
  return activate(request.stag, *buffer);
}

bool MemoryRegistry::invalidate(Stag stag, const ddp::Accessor& by) {
  const std::uint32_t slot = table_.slot_of(stag);
  {
    const std::lock_guard lock(mutex_);
    const Reservation* reservation = find(stag, by);
    if (reservation == nullptr || reservation->kind == Reserved::kWindow1) return false;
    // The same rules as for the peer: in force, and not another stream's.
    if (!table_.invalidate_for_peer(stag, by)) return false;
  }
  await_idle(slot);
  return true;
}

// Behind the completion of what ended an STag no access under it goes on.
void MemoryRegistry::await_idle(std::uint32_t slot) const {
  const auto give_up = Clock::now() + kPatience;
  while (!table_.idle(slot) && Clock::now() < give_up) std::this_thread::yield();
}

bool MemoryRegistry::has_windows(Stag region) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(reserved_, [&](const auto& each) {
    const Reservation& window = each.second;
    return window.kind != Reserved::kFastRegion && window.region == region &&
           table_.in_force(window.bound);
  });
}

Stag SoftMw::next_rkey() {
  if (type_ == WindowType::k2) return stag_;
  const std::uint32_t now = stag_.load().value();
  const Stag next{(now & ~kKeyMask) | ((now + 1U) & kKeyMask)};
  stag_.store(next);
  return next;
}

}  // namespace iwarp::verbs::soft
