#include "soft/memory_registry.hpp"

#include "iwarp/process/memory_faults.hpp"
#include "soft/memory_probe.hpp"
#include "soft/reservations.hpp"
#include "soft/secret.hpp"

namespace iwarp::verbs::soft {

ddp::Rights rights_of(Access access) {
  ddp::Rights rights = ddp::Rights::kNone;
  const auto grant = [&](Access flag, ddp::Rights right) {
    if (has(access, flag)) rights = rights | right;
  };
  grant(Access::kLocalWrite, ddp::Rights::kLocalWrite);
  grant(Access::kRemoteWrite, ddp::Rights::kRemoteWrite);
  grant(Access::kRemoteRead, ddp::Rights::kRemoteRead);
  grant(Access::kRemoteAtomic, ddp::Rights::kRemoteAtomic);
  grant(Access::kRemoteInvalidate, ddp::Rights::kRemoteInvalidate);
  grant(Access::kWindowBind, ddp::Rights::kWindowBind);
  return rights;
}

MemoryRegistry::MemoryRegistry() : MemoryRegistry(require_secret()) {}

MemoryRegistry::MemoryRegistry(std::uint64_t secret, std::function<void()> pause)
    : pause_(std::move(pause)), reserved_(std::make_unique<Reservations>()), table_(secret) {}

MemoryRegistry::~MemoryRegistry() = default;

std::optional<Stag> MemoryRegistry::enable(const ddp::TaggedBuffer& buffer) {
  const Guard lock(mutex_);
  return table_.enable(buffer);
}

void MemoryRegistry::disable(Stag stag) {
  table_.disable(stag);  // a peer may have invalidated it before
  await_idle(stag);
  give_back({&stag, 1});
}

// No window is bound between the look at them and the end of the region.
Outcome<Stag> MemoryRegistry::replace(Stag old, const ddp::TaggedBuffer& buffer) {
  std::optional<Stag> stag;
  {
    const Guard lock(mutex_);
    if (bound(old)) {
      return fail(std::errc::device_or_resource_busy, "memory region: a window is bound to it");
    }
    stag = table_.enable(buffer);
    if (!stag) return fail(std::errc::not_enough_memory, "memory region: no STag is free");
    table_.disable(old);
  }
  disable(old);
  return *stag;
}

Outcome<void> MemoryRegistry::change(Stag stag, const ddp::TaggedBuffer& buffer) {
  const Guard lock(mutex_);
  if (bound(stag)) {
    return fail(std::errc::device_or_resource_busy, "memory region: a window is bound to it");
  }
  table_.end(stag);
  activate(stag, buffer);
  return {};
}

void MemoryRegistry::await_idle(Stag stag) const {
  while (!table_.idle(stag)) pause_();
}

void MemoryRegistry::await_quiet(Stag stag) const {
  while (!table_.quiet(stag)) pause_();
}

void MemoryRegistry::give_back(std::span<const Stag> ended) {
  const Guard lock(mutex_);
  for (const Stag stag : ended) table_.release(stag);
}

Outcome<ddp::TaggedBuffer> buffer_of(MutableBytes memory, ddp::ProtectionDomainId pd,
                                     Access access) {
  const bool writes = has(access, Access::kRemoteWrite) || has(access, Access::kRemoteAtomic);
  if (writes && !has(access, Access::kLocalWrite)) {
    return fail(std::errc::invalid_argument,
                "memory region: remote write and atomic access need local write access");
  }
  if (memory.data() == nullptr && !memory.empty()) {
    return fail(std::errc::bad_address, "memory region: no memory at address 0");
  }
  const Touch touch = touch_of(access);
  if (!has(access, Access::kOnDemand) && !may_touch(memory, touch)) {
    return fail(std::errc::bad_address,
                touch == Touch::kWrite ? "memory region: the process may not write to all of it"
                                       : "memory region: the process may not read all of it");
  }
  const bool zero_based = has(access, Access::kZeroBased);
  const auto base = zero_based ? 0 : reinterpret_cast<std::uintptr_t>(memory.data());
  return ddp::TaggedBuffer{memory.data(), TaggedOffset{base}, memory.size(), pd, rights_of(access)};
}

namespace {

// With `base` in place of the address, if there is one. The memory may yet be taken away. A fast
// registration, which may come with each message, relies on what its connection has seen to.
Outcome<ddp::TaggedBuffer> buffer_at(MutableBytes memory, ddp::ProtectionDomainId pd, Access access,
                                     std::optional<std::uint64_t> base) {
  process::catch_memory_faults();
  auto buffer = buffer_of(memory, pd, access);
  if (!buffer || !base) return buffer;
  if (memory.size() > UINT64_MAX - *base) {
    return fail(std::errc::invalid_argument, "memory region: its Tagged Offsets would wrap");
  }
  buffer->base = TaggedOffset{*base};
  return buffer;
}

}  // namespace

Outcome<std::shared_ptr<provider::Mr>> register_memory(
    const std::shared_ptr<MemoryRegistry>& registry, const std::shared_ptr<SoftPd>& pd,
    MutableBytes memory, Access access, std::optional<std::uint64_t> base) {
  const auto buffer = buffer_at(memory, pd->id(), access, base);
  if (!buffer) return failure(buffer.error());
  const auto stag = registry->enable(*buffer);
  if (!stag) return fail(std::errc::not_enough_memory, "memory region: no STag is free");
  return std::shared_ptr<provider::Mr>(
      process::make_shared_here<SoftMr>(registry, pd, *stag, *buffer));
}

namespace {

Outcome<ddp::StagTable::Pin> pin(const ddp::StagTable& table, const ddp::Accessor& by,
                                 const Sge& part, ddp::Rights wanted) {
  const TaggedOffset at{reinterpret_cast<std::uintptr_t>(part.address)};
  auto pinned = table.pin(part.lkey, by, wanted, at, part.length);
  if (pinned) return std::move(*pinned);
  switch (pinned.error()) {
    case ddp::Error::kInvalidStag:
      return fail(std::errc::no_such_file_or_directory, "no memory is registered under its lkey");
    case ddp::Error::kBoundsViolation:
    case ddp::Error::kTaggedOffsetWrap:
      return fail(std::errc::bad_address, "it is not all inside the region that its lkey opens");
    case ddp::Error::kAccessViolation:
      return fail(std::errc::operation_not_permitted,
                  "its region was registered without that right");
    default:
      return fail(std::errc::operation_not_permitted, "its region is of another protection domain");
  }
}

}  // namespace

Outcome<void> check(const ddp::StagTable& table, const ddp::Accessor& by, std::span<const Sge> sges,
                    Access needed) {
  const ddp::Rights wanted = rights_of(needed);
  for (std::size_t i = 0; i < sges.size(); ++i) {
    if (sges[i].length == 0) continue;
    const auto pinned = pin(table, by, sges[i], wanted);
    if (pinned) continue;
    return failure(
        Error{pinned.error().code, "sges[" + std::to_string(i) + "]: " + pinned.error().message});
  }
  return {};
}

Outcome<void> prefetch(const ddp::StagTable& table, const ddp::Accessor& by,
                       std::span<const Sge> parts, Touch touch) {
  const ddp::Rights wanted = touch == Touch::kWrite ? ddp::Rights::kLocalWrite : ddp::Rights::kNone;
  for (const Sge& part : parts) {
    const auto pinned = pin(table, by, part, wanted);
    if (!pinned) {
      return failure(Error{pinned.error().code,
                           "memory region: cannot be fetched: " + pinned.error().message});
    }
    if (!make_present({pinned->memory(), part.length}, touch)) {
      return fail(std::errc::bad_address, "memory region: what is to be fetched is not there");
    }
  }
  return {};
}

Outcome<void> SoftMr::reregister(const std::shared_ptr<SoftPd>& pd, MutableBytes memory,
                                 Access access, std::optional<std::uint64_t> base) {
  if (origin_.refuses()) return refused();
  const auto buffer = buffer_at(memory, pd->id(), access, base);
  if (!buffer) return failure(buffer.error());
  const bool stays = buffer->memory == buffer_.memory && buffer->length == buffer_.length &&
                     buffer->base == buffer_.base;
  if (stays) {
    if (const auto changed = registry_->change(stag_, *buffer); !changed) return changed;
  } else {
    const auto stag = registry_->replace(stag_, *buffer);
    if (!stag) return failure(stag.error());
    stag_ = *stag;
  }
  buffer_ = *buffer;
  pd_ = pd;
  return {};
}

}  // namespace iwarp::verbs::soft
