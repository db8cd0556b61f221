#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>

#include "iwarp/ddp/stag_table.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::verbs::soft {

/// A protection domain: a number that memory and queue pairs share.
class SoftPd final : public provider::Pd {
 public:
  explicit SoftPd(ddp::ProtectionDomainId id) : id_(id) {}
  [[nodiscard]] ddp::ProtectionDomainId id() const { return id_; }

 private:
  ddp::ProtectionDomainId id_;
};

/// What an STag was set aside for.
enum class Reserved : std::uint8_t { kWindow1, kWindow2, kFastRegion };

/// The slots and keys of an STag table, and the rules by which memory comes to be named by an STag:
/// at registration, and by the work requests that bind windows and register memory. Thread-safe.
/// Files: memory_registry.cpp slots and registration, memory_binding.cpp the work requests.
class MemoryRegistry {
 public:
  MemoryRegistry();
  /// With STags that depend on `secret` alone: for simulations that are to be repeated.
  explicit MemoryRegistry(std::uint64_t secret);

  [[nodiscard]] ddp::StagTable& table() { return table_; }
  /// Registers a buffer; nothing if every slot is taken.
  std::optional<Stag> enable(const ddp::TaggedBuffer& buffer);
  /// Ends a registration and returns when no access to its memory is under way. What may be under
  /// way is a copy, a CRC or one system call; nobody waits for a peer here.
  void disable(Stag stag);

  /// Sets an STag aside; nothing if every slot is taken.
  std::optional<Stag> reserve(Reserved kind, ddp::ProtectionDomainId pd);
  /// Gives a reserved STag back, in force or not; returns as disable() does.
  void release(Stag stag);

  // The work requests kBindWindow, kRegister and kInvalidate of a stream. False if the request
  // breaks a rule of BindWr, RegisterWr or SendWr::invalidate_stag.
  bool bind(const BindWr& request, const ddp::Accessor& by);
  bool register_fast(const RegisterWr& request, const ddp::Accessor& by);
  bool invalidate(Stag stag, const ddp::Accessor& by);
  /// Whether a window is bound to the region.
  [[nodiscard]] bool has_windows(Stag region);

 private:
  struct Reservation {
    Reserved kind;
    ddp::ProtectionDomainId pd;
    Stag bound;   // window: what it was bound under last,
    Stag region;  // and to
  };

  std::optional<std::uint32_t> take_slot();
  void wait_until_idle(std::uint32_t slot) const;
  void await_idle(std::uint32_t slot) const;
  Reservation* find(Stag stag, const ddp::Accessor& by);
  bool activate(Stag stag, const ddp::TaggedBuffer& buffer);

  std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<std::uint32_t> free_;  // first in, first out: a slot comes back late
  std::uint32_t used_ = 0;          // slots handed out at least once
  std::unordered_map<std::uint32_t, Reservation> reserved_;  // by slot
  ddp::StagTable table_;
};

/// A registered region.
class SoftMr final : public provider::Mr {
 public:
  SoftMr(std::shared_ptr<MemoryRegistry> registry, std::shared_ptr<SoftPd> pd, Stag stag)
      : registry_(std::move(registry)), pd_(std::move(pd)), stag_(stag) {}
  ~SoftMr() override { registry_->disable(stag_); }
  SoftMr(const SoftMr&) = delete;
  SoftMr& operator=(const SoftMr&) = delete;

  [[nodiscard]] Stag lkey() const override { return stag_; }
  [[nodiscard]] Stag rkey() const override { return stag_; }
  [[nodiscard]] bool has_windows() const override { return registry_->has_windows(stag_); }
  /// Registers something else in its place. Errors: those of register_memory().
  Outcome<void> reregister(const std::shared_ptr<SoftPd>& pd, MutableBytes memory, Access access,
                           std::optional<std::uint64_t> base = {});

 private:
  std::shared_ptr<MemoryRegistry> registry_;
  std::shared_ptr<SoftPd> pd_;
  std::atomic<Stag> stag_;
};

/// A memory window.
class SoftMw final : public provider::Mw {
 public:
  SoftMw(std::shared_ptr<MemoryRegistry> registry, std::shared_ptr<SoftPd> pd, WindowType type,
         Stag stag)
      : registry_(std::move(registry)), pd_(std::move(pd)), type_(type), stag_(stag) {}
  ~SoftMw() override { registry_->release(stag_); }
  SoftMw(const SoftMw&) = delete;
  SoftMw& operator=(const SoftMw&) = delete;

  [[nodiscard]] WindowType type() const override { return type_; }
  [[nodiscard]] Stag rkey() const override { return stag_; }
  Stag next_rkey() override;

 private:
  std::shared_ptr<MemoryRegistry> registry_;
  std::shared_ptr<SoftPd> pd_;
  const WindowType type_;
  std::atomic<Stag> stag_;
};

/// Room for fast registration.
class SoftFastMr final : public provider::FastMr {
 public:
  SoftFastMr(std::shared_ptr<MemoryRegistry> registry, std::shared_ptr<SoftPd> pd, Stag stag)
      : registry_(std::move(registry)), pd_(std::move(pd)), stag_(stag) {}
  ~SoftFastMr() override { registry_->release(stag_); }
  SoftFastMr(const SoftFastMr&) = delete;
  SoftFastMr& operator=(const SoftFastMr&) = delete;

  [[nodiscard]] Stag stag() const override { return stag_; }

 private:
  std::shared_ptr<MemoryRegistry> registry_;
  std::shared_ptr<SoftPd> pd_;
  const Stag stag_;
};

/// The rights that access flags stand for.
ddp::Rights rights_of(Access access);
/// The buffer of `memory`; an Error if the flags or the address make none. Errors: EINVAL, EFAULT.
Outcome<ddp::TaggedBuffer> buffer_of(MutableBytes memory, ddp::ProtectionDomainId pd,
                                     Access access);

/// Checks the access flags and registers `memory`, with Tagged Offsets from `base` on if that is
/// given. Errors: EINVAL, EFAULT, ENOMEM.
Outcome<std::shared_ptr<provider::Mr>> register_memory(
    const std::shared_ptr<MemoryRegistry>& registry, const std::shared_ptr<SoftPd>& pd,
    MutableBytes memory, Access access, std::optional<std::uint64_t> base = std::nullopt);

}  // namespace iwarp::verbs::soft
