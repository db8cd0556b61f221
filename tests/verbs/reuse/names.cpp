#include "verbs/reuse/names.hpp"

#include <algorithm>

namespace iwarp::verbs::reuse {
namespace {

using ddp::Rights;
using soft::Reserved;

constexpr std::size_t kMostAtATime = 48;
constexpr std::size_t kLooks = 2;
constexpr Access kAll =
    Access::kLocalWrite | Access::kRemoteWrite | Access::kWindowBind | Access::kZeroBased;

Stag next_key(Stag stag) { return Stag{ddp::index_of(stag) | ((stag.value() + 1U) & 0xFFU)}; }

ddp::TaggedBuffer octet_at(std::byte* memory, ddp::ProtectionDomainId pd) {
  return {memory, TaggedOffset{0}, 1, pd,
          Rights::kLocalWrite | Rights::kRemoteWrite | Rights::kWindowBind};
}

}  // namespace

Names::Names(std::uint64_t seed) : random_(seed), registry_(seed) {
  for (int i = 0; i < 4; ++i) new_stream();
}

void Names::step() {
  act();
  for (std::size_t i = 0; i < kLooks && !notes_.empty(); ++i) look(*any(notes_));
  if (!open_.empty() && random_.one_in(64)) {
    for (const auto& each : open_) look(each.first);
  }
}

void Names::act() {
  static constexpr void (Names::*kActs[])() = {&Names::make_region,
                                               &Names::end_region,
                                               &Names::replace_region,
                                               &Names::make_fast_region,
                                               &Names::end_fast_region,
                                               &Names::register_fast,
                                               &Names::invalidate_fast,
                                               &Names::make_window,
                                               &Names::end_window,
                                               &Names::bind,
                                               &Names::bind,
                                               &Names::unbind,
                                               &Names::new_stream};
  (this->*kActs[random_.below(std::size(kActs))])();
}

// ---- Regions ----

void Names::make_region() {
  if (regions_.size() == kMostAtATime) return;
  std::byte* const memory = next_area();
  const Stag stag = registry_.enable(octet_at(memory, kPd)).value();
  regions_.push_back({stag, next_life(), memory});
  expect(handed_out_.insert(stag).second, "a region has an STag again that has been handed out");
  opens(stag, {memory, regions_.back().life});
}

void Names::end_region() {
  Memory* const region = any(regions_);
  if (region == nullptr) return;
  registry_.disable(region->stag);
  ends(region->life);
  drop(regions_, region);
}

void Names::replace_region() {
  Memory* const region = any(regions_);
  if (region == nullptr) return;
  std::byte* const memory = next_area();
  const auto stag = registry_.replace(region->stag, octet_at(memory, kPd));
  const bool refused = !stag && stag.error().code == std::errc::device_or_resource_busy;
  expect(refused == is_bound(region->life), "registering anew is not refused for a bound window");
  if (!stag) return;
  ends(region->life);
  *region = {*stag, next_life(), memory};
  expect(handed_out_.insert(*stag).second, "an STag has been handed out again");
  opens(*stag, {memory, region->life});
}

void Names::make_fast_region() {
  if (fast_.size() == kMostAtATime) return;
  fast_.push_back({registry_.reserve(Reserved::kFastRegion, kPd).value(), 0, nullptr});
}

void Names::end_fast_region() {
  Memory* const region = any(fast_);
  if (region == nullptr) return;
  registry_.release(region->stag);
  ends(region->life);
  drop(fast_, region);
}

// Under the same STag as the last time, or under the next.
void Names::register_fast() {
  Memory* const region = any(fast_);
  if (region == nullptr) return;
  const Stag stag = random_.one_in(2) ? region->stag : next_key(region->stag);
  std::byte* const memory = next_area();
  const bool done = registry_.register_fast({stag, memory, 1, kAll}, by(*any(streams_)));
  expect(done == (region->life == 0), "a fast region comes into force in force, or does not");
  if (!done) return;
  *region = {stag, next_life(), memory};
  opens(stag, {memory, region->life});
}

void Names::invalidate_fast() {
  Memory* const region = any(fast_);
  if (region == nullptr) return;
  const auto accessor = by(*any(streams_));
  const bool done = random_.one_in(2)
                        ? registry_.invalidate(region->stag, accessor)
                        : registry_.table().invalidate_for_peer(region->stag, accessor).has_value();
  expect(done == (region->life != 0), "a fast region was not invalidated, or twice");
  ends(std::exchange(region->life, 0));
}

// What was open through a region is not any more.
void Names::ends(std::uint64_t life) {
  if (life == 0) return;
  std::erase_if(open_, [&](const auto& each) { return each.second.life == life; });
}

// ---- Windows ----

void Names::make_window() {
  if (windows_.size() == kMostAtATime) return;
  const bool type1 = random_.one_in(2);
  const auto kind = type1 ? Reserved::kWindow1 : Reserved::kWindow2;
  windows_.push_back(
      {registry_.reserve(kind, kPd).value(), type1 ? WindowType::k1 : WindowType::k2});
  if (type1) expect(handed_out_.insert(windows_.back().stag).second, "a window has an old STag");
}

void Names::end_window() {
  Window* const window = any(windows_);
  if (window == nullptr) return;
  registry_.release(window->stag);
  closes(*window);
  drop(windows_, window);
}

void Names::bind() {
  Window* const window = any(windows_);
  Memory* const region = any(random_.one_in(2) ? regions_ : fast_);
  if (window == nullptr || region == nullptr) return;
  const auto accessor = by(*any(streams_));
  const bool type1 = window->type == WindowType::k1;
  const Stag under = type1 ? registry_.reserve_next(window->stag).value() : next_key(window->stag);
  if (type1) window->stag = under;
  if (type1) expect(handed_out_.insert(under).second, "a window is bound under an old STag");
  const bool done = registry_.bind(
      {under, region->stag, nullptr, 1, Access::kRemoteWrite | Access::kZeroBased}, accessor);
  const bool may = region->life != 0 && (type1 || window->life == 0);
  expect(done == may, may ? "a window was not bound" : "a window was bound that may not be");
  if (!done) return;
  closes(*window);
  const ddp::StreamId stream = type1 ? ddp::kAnyStream : accessor.stream;
  *window = {under, window->type, under, region->life, stream};
  opens(under, {region->memory, region->life, stream});
}

// Type 1 by a binding of no length, type 2 by either side, if the stream is the right one.
void Names::unbind() {
  Window* const window = any(windows_);
  if (window == nullptr) return;
  const auto accessor = by(*any(streams_));
  bool done = false;
  bool may = true;
  if (window->type == WindowType::k1) {
    window->stag = registry_.reserve_next(window->stag).value();
    done = registry_.bind({window->stag, {}, nullptr, 0, Access::kNone}, accessor);
    expect(handed_out_.insert(window->stag).second, "a window has an old STag");
  } else {
    may = window->life != 0 && window->stream == accessor.stream;
    done = random_.one_in(2)
               ? registry_.invalidate(window->stag, accessor)
               : registry_.table().invalidate_for_peer(window->stag, accessor).has_value();
  }
  expect(done == may, "a window was not closed, or by a stranger");
  if (done) closes(*window);
}

void Names::closes(Window& window) {
  if (window.life != 0) open_.erase(window.bound);
  window.life = 0;
}

// Whether a window is bound to that life of a region.
bool Names::is_bound(std::uint64_t life) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const Window& each) { return each.life == life; });
}

// ---- Streams ----

// One ends for each that comes, and takes its windows with it.
void Names::new_stream() {
  if (streams_.size() == 4) {
    ddp::StreamId* const gone = any(streams_);
    registry_.end_stream(*gone);
    for (Window& window : windows_) {
      if (window.stream == *gone) closes(window);
    }
    drop(streams_, gone);
  }
  streams_.push_back(registry_.begin_stream());
}

// ---- The peer ----

void Names::opens(Stag stag, const Opening& opening) {
  open_[stag] = opening;
  notes_.push_back(stag);
}

void Names::look(Stag stag) {
  const ddp::StreamId stream = *any(streams_);
  const auto found = open_.find(stag);
  const bool may = found != open_.end() &&
                   (found->second.stream == ddp::kAnyStream || found->second.stream == stream);
  const auto pin =
      registry_.table().pin(stag, by(stream), Rights::kRemoteWrite, TaggedOffset{0}, 1);
  expect(pin.has_value() == may, may ? "a name does not open what it names" : "an old name opens");
  if (pin && may) expect(pin->memory() == found->second.memory, "a name opens other memory");
}

// The first complaint counts.
void Names::expect(bool holds, const char* what) {
  if (holds || !complaint_.empty()) return;
  complaint_ = std::string(what) + ", " + std::to_string(notes_.size()) + " names on";
}

}  // namespace iwarp::verbs::reuse
