#include "soft/memory_registry.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

namespace iwarp::verbs::soft {
namespace {

std::uint64_t random_secret() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

}  // namespace

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

MemoryRegistry::MemoryRegistry() : random_(random_secret()), table_(random_secret()) {}

MemoryRegistry::MemoryRegistry(std::uint64_t secret) : random_(secret), table_(secret) {}

std::optional<std::uint32_t> MemoryRegistry::take_slot() {
  // A slot rests for a while before it is used again, so that an old STag stays dead.
  constexpr std::size_t kResting = 64;
  if (free_.size() > kResting || (used_ == ddp::StagTable::kMaxSlots && !free_.empty())) {
    const std::uint32_t slot = free_.front();
    free_.pop_front();
    return slot;
  }
  if (used_ == ddp::StagTable::kMaxSlots) return std::nullopt;
  return used_++;
}

void MemoryRegistry::wait_until_idle(std::uint32_t slot) const {
  while (!table_.idle(slot)) std::this_thread::yield();
}

std::optional<Stag> MemoryRegistry::enable(const ddp::TaggedBuffer& buffer) {
  const std::lock_guard lock(mutex_);
  const auto slot = take_slot();
  if (!slot) return std::nullopt;
  return table_.enable(*slot, static_cast<std::uint8_t>(random_()), buffer);
}

void MemoryRegistry::disable(Stag stag) {
  const std::uint32_t slot = table_.slot_of(stag);
  table_.disable(stag);  // a peer may have invalidated it before
  wait_until_idle(slot);
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
}

namespace {

// mincore(2) fails for pages that are not mapped; what it says of the others is of no interest.
bool is_mapped(MutableBytes memory) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::array<unsigned char, 4096> pages{};
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data()) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size();
  for (std::uintptr_t at = first; at < end;) {
    const std::uintptr_t length = std::min<std::uintptr_t>(end - at, pages.size() * page);
    if (::mincore(reinterpret_cast<void*>(at), length, pages.data()) != 0) return errno != ENOMEM;
    at += length;
  }
  return true;
}

}  // namespace

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
  if (!is_mapped(memory)) {
    return fail(std::errc::bad_address, "memory region: the process has no memory in a part of it");
  }
  const bool zero_based = has(access, Access::kZeroBased);
  const auto base = zero_based ? 0 : reinterpret_cast<std::uintptr_t>(memory.data());
  return ddp::TaggedBuffer{memory.data(), TaggedOffset{base}, memory.size(), pd, rights_of(access)};
}

namespace {

// With `base` in place of the address, if there is one.
Outcome<ddp::TaggedBuffer> buffer_at(MutableBytes memory, ddp::ProtectionDomainId pd, Access access,
                                     std::optional<std::uint64_t> base) {
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
  return std::shared_ptr<provider::Mr>(std::make_shared<SoftMr>(registry, pd, *stag));
}

Outcome<void> SoftMr::reregister(const std::shared_ptr<SoftPd>& pd, MutableBytes memory,
                                 Access access, std::optional<std::uint64_t> base) {
  const auto buffer = buffer_at(memory, pd->id(), access, base);
  if (!buffer) return failure(buffer.error());
  const auto stag = registry_->enable(*buffer);
  if (!stag) return fail(std::errc::not_enough_memory, "memory region: no STag is free");
  registry_->disable(stag_.exchange(*stag));
  pd_ = pd;
  return {};
}

}  // namespace iwarp::verbs::soft
