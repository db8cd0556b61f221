#include <algorithm>

#include "soft/reservations.hpp"

/// STags that are set aside first and named memory is given to later: memory windows and fast
/// regions, as the work requests of a stream bring them into force and end them.
namespace iwarp::verbs::soft {
namespace {

// More than can be under way: an STag of a window that was asked for so long ago is not bound any
// more.
constexpr std::uint64_t kMostUnused = 65536;

// What a window may grant; the rest is the region's business.
bool is_remote_only(Access access) {
  constexpr Access kAllowed = Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic |
                              Access::kRemoteInvalidate | Access::kZeroBased;
  return has(kAllowed, access);
}

bool lets_peer_write(Access access) {
  return has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic);
}

// The keys of a window of type 1 are not its owner's to choose.
ddp::KeyChoice choice_of(Reserved kind) {
  return kind == Reserved::kWindow1 ? ddp::KeyChoice::kTable : ddp::KeyChoice::kOwner;
}

}  // namespace

std::optional<Stag> MemoryRegistry::reserve(Reserved kind, ddp::ProtectionDomainId pd) {
  const Guard lock(mutex_);
  const auto stag = table_.reserve(choice_of(kind));
  if (!stag) return std::nullopt;
  reserved_->add({*stag, ++objects_, 1, kind, pd});
  return stag;
}

std::optional<Stag> MemoryRegistry::reserve_next(Stag stag) {
  const Guard lock(mutex_);
  const Reservation* window = reserved_->find(stag);
  if (window == nullptr) return std::nullopt;
  forget_unused(window->object);
  const auto next = table_.reserve(choice_of(window->kind));
  if (!next) return std::nullopt;
  const std::uint64_t order = std::prev(reserved_->of_object(window->object).second)->order + 1U;
  reserved_->add({*next, window->object, order, window->kind, window->pd});
  return next;
}

// A program that asks for STags, and does not bind its window, does not use all of them up.
void MemoryRegistry::forget_unused(std::uint64_t object) {
  auto [first, end] = reserved_->of_object(object);
  if (first != end && first->bound != Stag{}) ++first;
  if (first == end || std::prev(end)->order - first->order < kMostUnused) return;
  const Stag unused = first->name;
  reserved_->erase(*first);
  table_.release(unused);
}

void MemoryRegistry::release(Stag stag) {
  std::vector<Stag> ended;
  {
    const Guard lock(mutex_);
    const Reservation* one = reserved_->find(stag);
    if (one == nullptr) return;
    const auto [first, end] = reserved_->of_object(one->object);
    std::transform(first, end, std::back_inserter(ended),
                   [](const auto& each) { return each.name; });
    for (const Stag each : ended) {
      table_.end(each);
      reserved_->erase(*reserved_->find(each));
    }
  }
  for (const Stag each : ended) await_idle(each);
  give_back(ended);
}

const Reservation* MemoryRegistry::find(Stag stag, const ddp::Accessor& by) const {
  const Reservation* found = reserved_->find(stag);
  return found == nullptr || found->pd != by.pd ? nullptr : found;
}

// What keeps it busy is a copy under way, never a peer.
bool MemoryRegistry::activate(Stag stag, const ddp::TaggedBuffer& buffer) {
  auto result = table_.activate(stag, buffer);
  while (result == ddp::Activation::kBusy) {
    pause_();
    result = table_.activate(stag, buffer);
  }
  return result == ddp::Activation::kDone;
}

// Ends what a window of type 1 was bound under before, and gives up the STags before this one.
std::vector<Stag> MemoryRegistry::close_before(const Reservation& window) {
  std::vector<Stag> closed;
  table_.end(window.name);
  const auto [first, end] = reserved_->of_object(window.object);
  for (auto each = first; each != end && each->order < window.order; ++each) {
    closed.push_back(each->name);
  }
  for (const Stag each : closed) {
    table_.end(each);
    reserved_->erase(*reserved_->find(each));
  }
  return closed;
}

// The part of a region that a window opens, if it may.
std::optional<ddp::TaggedBuffer> MemoryRegistry::window_on(const BindWr& request,
                                                           const ddp::Accessor& by) {
  const ddp::Rights needed = lets_peer_write(request.access)
                                 ? ddp::Rights::kWindowBind | ddp::Rights::kLocalWrite
                                 : ddp::Rights::kWindowBind;
  const TaggedOffset at{reinterpret_cast<std::uintptr_t>(request.address)};
  const auto region = table_.pin(request.region, by, needed, at, request.length);
  if (!region || request.length == 0) return std::nullopt;
  ddp::TaggedBuffer buffer{region->memory(), at, request.length, by.pd, rights_of(request.access)};
  buffer.parent = region->registration();
  if (has(request.access, Access::kZeroBased)) buffer.base = TaggedOffset{0};
  return buffer;
}

bool MemoryRegistry::bind(const BindWr& request, const ddp::Accessor& by) {
  std::vector<Stag> closed;
  bool done = false;
  {
    const Guard lock(mutex_);
    const Reservation* window = find(request.window, by);
    if (window == nullptr || !is_remote_only(request.access)) return false;
    if (window->kind == Reserved::kWindow1) done = bind_type1(*window, request, by, closed);
    if (window->kind == Reserved::kWindow2) done = bind_type2(*window, request, by);
  }
  for (const Stag each : closed) await_quiet(each);
  await_quiet(request.window);  // if it was unbound
  give_back(closed);
  return done;
}

bool MemoryRegistry::bind_type1(const Reservation& window, const BindWr& request,
                                const ddp::Accessor& by, std::vector<Stag>& closed) {
  if (request.window != window.name) return false;
  std::optional<ddp::TaggedBuffer> part;
  if (request.length != 0 && !(part = window_on(request, by))) return false;
  closed = close_before(window);
  if (part) return open(window, request.window, *part);
  reserved_->bind(window, {}, 0, {});
  return true;
}

// Open to one stream, whose peer may end it.
bool MemoryRegistry::bind_type2(const Reservation& window, const BindWr& request,
                                const ddp::Accessor& by) {
  auto part = window_on(request, by);
  if (!part) return false;
  part->stream = by.stream;
  part->rights = part->rights | ddp::Rights::kRemoteInvalidate;
  return open(window, request.window, *part);
}

bool MemoryRegistry::open(const Reservation& window, Stag under, const ddp::TaggedBuffer& part) {
  if (!activate(under, part)) return false;
  reserved_->bind(window, under, part.parent.number(), part.stream);
  return true;
}

bool MemoryRegistry::register_fast(const RegisterWr& request, const ddp::Accessor& by) {
  const auto* memory = static_cast<std::byte*>(request.address);
  auto buffer = buffer_of({const_cast<std::byte*>(memory), request.length}, by.pd, request.access);
  if (!buffer) return false;
  const Guard lock(mutex_);
  const Reservation* region = find(request.stag, by);
  if (region == nullptr || region->kind != Reserved::kFastRegion) return false;
  buffer->rights = buffer->rights | ddp::Rights::kRemoteInvalidate;
  return activate(request.stag, *buffer);
}

bool MemoryRegistry::invalidate(Stag stag, const ddp::Accessor& by) {
  {
    const Guard lock(mutex_);
    const Reservation* reservation = find(stag, by);
    if (reservation == nullptr || reservation->kind == Reserved::kWindow1) return false;
    // The same rules as for the peer: in force, and not another stream's.
    if (!table_.invalidate_for_peer(stag, by)) return false;
  }
  await_quiet(stag);
  return true;
}

// The stream has no access under way when its queue pair goes.
void MemoryRegistry::end_stream(ddp::StreamId stream) {
  const Guard lock(mutex_);
  const auto [first, end] = reserved_->of_stream(stream);
  std::vector<Stag> windows;
  std::transform(first, end, std::back_inserter(windows),
                 [](const auto& each) { return each.name; });
  for (const Stag each : windows) {
    table_.end(each);
    reserved_->bind(*reserved_->find(each), {}, 0, {});
  }
}

bool MemoryRegistry::has_windows(Stag region) {
  const Guard lock(mutex_);
  return bound(region);
}

// A window that its peer or its owner has ended is not any more.
bool MemoryRegistry::bound(Stag region) const {
  const ddp::Registration life = table_.registration_of(region);
  if (!life) return false;
  const auto [first, end] = reserved_->of_region(life.number());
  return std::any_of(first, end, [&](const auto& each) { return table_.in_force(each.bound); });
}

// An STag of 0 is bound to nothing, and nothing can be bound under it.
Stag SoftMw::next_rkey() {
  if (type_ == WindowType::k2) return stag_;
  const auto next = registry_->reserve_next(stag_);
  if (!next) return Stag{0};
  stag_.store(*next);
  return *next;
}

}  // namespace iwarp::verbs::soft
