#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "iwarp/ddp/stag_table.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/provider/lock.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/memory_probe.hpp"

namespace iwarp::verbs::soft {

class MemoryRegistry;

/// A protection domain: a number that memory and queue pairs share.
class SoftPd final : public provider::Pd {
 public:
  explicit SoftPd(ddp::ProtectionDomainId id, const MemoryRegistry* of = nullptr)
      : id_(id), of_(of) {}
  [[nodiscard]] ddp::ProtectionDomainId id() const { return id_; }
  /// Whether it is of the device whose memory that is.
  [[nodiscard]] bool works_with(const MemoryRegistry& memory) const { return of_ == &memory; }

 private:
  ddp::ProtectionDomainId id_;
  const MemoryRegistry* const of_;
};

/// What an STag was set aside for.
enum class Reserved : std::uint8_t { kWindow1, kWindow2, kFastRegion };

struct Reservation;
class Reservations;

/// The owner of an STag table, and the rules by which memory comes to be named by an STag: at
/// registration, and by the work requests that bind windows and register memory. Thread-safe.
/// Files: memory_registry.cpp registration, memory_binding.cpp the work requests, reservations.hpp
/// what is set aside for these.
class MemoryRegistry {
 public:
  /// With STags that cannot be foreseen. Throws std::system_error without random numbers.
  MemoryRegistry();
  /// With STags that depend on `secret` alone: for simulations that are to be repeated. `pause` is
  /// what a thread does, again and again, while it waits for a copy of another one.
  explicit MemoryRegistry(std::uint64_t secret,
                          std::function<void()> pause = std::this_thread::yield);
  ~MemoryRegistry();
  MemoryRegistry(const MemoryRegistry&) = delete;
  MemoryRegistry& operator=(const MemoryRegistry&) = delete;

  [[nodiscard]] ddp::StagTable& table() { return table_; }
  /// Registers a buffer; nothing if every STag is taken.
  std::optional<Stag> enable(const ddp::TaggedBuffer& buffer);
  /// Ends a registration, and the windows that are bound to it, and returns when no access to its
  /// memory is under way. What may be under way is a copy, a CRC or one system call: never
  /// a wait for a peer.
  void disable(Stag stag);
  /// Registers a buffer in place of what `old` names, and returns as disable() does. Errors: EBUSY
  /// while a window is bound to it, ENOMEM if every STag is taken.
  Outcome<Stag> replace(Stag old, const ddp::TaggedBuffer& buffer);
  /// Gives the memory that `stag` names other rights or another PD, under the same STag, once no
  /// copy under the old ones is under way. Errors: EBUSY while a window is bound to it.
  Outcome<void> change(Stag stag, const ddp::TaggedBuffer& buffer);

  /// Sets an STag aside; nothing if every STag is taken.
  std::optional<Stag> reserve(Reserved kind, ddp::ProtectionDomainId pd);
  /// Sets another STag aside for the window of type 1 that has `stag`; nothing if every STag is
  /// taken. Those before it are given back when the window is bound under it.
  std::optional<Stag> reserve_next(Stag stag);
  /// Gives a window or a fast region back, in force or not; returns as disable() does.
  void release(Stag stag);

  // The work requests kBindWindow, kRegister and kInvalidate of a stream. False if the request
  // breaks a rule of BindWr, RegisterWr or SendWr::invalidate_stag.
  bool bind(const BindWr& request, const ddp::Accessor& by);
  bool register_fast(const RegisterWr& request, const ddp::Accessor& by);
  bool invalidate(Stag stag, const ddp::Accessor& by);
  /// Whether a window is bound to the region.
  [[nodiscard]] bool has_windows(Stag region);

  /// A number that no stream has had before.
  ddp::StreamId begin_stream() { return ddp::StreamId{streams_.fetch_add(1) + 1U}; }
  /// Ends the windows that are open to a stream alone.
  void end_stream(ddp::StreamId stream);
  /// Returns when no copy under an STag that has ended is under way any more. What is reported
  /// behind this finds the memory as it stays (RFC 5040 §5.3).
  void await_quiet(Stag stag) const;

 private:
  void await_idle(Stag stag) const;
  void give_back(std::span<const Stag> ended);
  const Reservation* find(Stag stag, const ddp::Accessor& by) const IWARP_REQUIRES(mutex_);
  bool activate(Stag stag, const ddp::TaggedBuffer& buffer) IWARP_REQUIRES(mutex_);
  bool bind_type1(const Reservation& window, const BindWr& request, const ddp::Accessor& by,
                  std::vector<Stag>& closed) IWARP_REQUIRES(mutex_);
  bool bind_type2(const Reservation& window, const BindWr& request, const ddp::Accessor& by)
      IWARP_REQUIRES(mutex_);
  bool open(const Reservation& window, Stag under, const ddp::TaggedBuffer& part)
      IWARP_REQUIRES(mutex_);
  std::optional<ddp::TaggedBuffer> window_on(const BindWr& request, const ddp::Accessor& by)
      IWARP_REQUIRES(mutex_);
  std::vector<Stag> close_before(const Reservation& window) IWARP_REQUIRES(mutex_);
  void forget_unused(std::uint64_t object) IWARP_REQUIRES(mutex_);
  bool bound(Stag region) const IWARP_REQUIRES(mutex_);

  Mutex mutex_;
  const std::function<void()> pause_;
  std::unique_ptr<Reservations> reserved_ IWARP_GUARDED_BY(mutex_);
  std::uint64_t objects_ IWARP_GUARDED_BY(mutex_) = 0;  // windows and fast regions made
  ddp::StagTable table_;
  std::atomic<std::uint64_t> streams_{0};
};

/// A registered region.
class SoftMr final : public provider::Mr {
 public:
  SoftMr(std::shared_ptr<MemoryRegistry> registry, std::shared_ptr<SoftPd> pd, Stag stag,
         const ddp::TaggedBuffer& buffer)
      : registry_(std::move(registry)), pd_(std::move(pd)), stag_(stag), buffer_(buffer) {}
  ~SoftMr() override { registry_->disable(stag_); }
  SoftMr(const SoftMr&) = delete;
  SoftMr& operator=(const SoftMr&) = delete;

  [[nodiscard]] Stag lkey() const override { return stag_; }
  [[nodiscard]] Stag rkey() const override { return stag_; }
  [[nodiscard]] bool has_windows() const override {
    return !origin_.inherited() && registry_->has_windows(stag_);
  }
  /// Registers something else in its place, under another STag unless the memory and its Tagged
  /// Offsets stay. Errors: those of register_memory(), and EBUSY while a window is bound to it.
  Outcome<void> reregister(const std::shared_ptr<SoftPd>& pd, MutableBytes memory, Access access,
                           std::optional<std::uint64_t> base = {});

 private:
  std::shared_ptr<MemoryRegistry> registry_;
  std::shared_ptr<SoftPd> pd_;
  std::atomic<Stag> stag_;
  ddp::TaggedBuffer buffer_;
  const process::Origin origin_;
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

/// Whether requests of `by` could use such memory. Errors: those of ProtectionDomain::check().
Outcome<void> check(const ddp::StagTable& table, const ddp::Accessor& by, std::span<const Sge> sges,
                    Access needed);
/// Makes parts of registered memory present. Errors: those of provider::Provider::prefetch().
Outcome<void> prefetch(const ddp::StagTable& table, const ddp::Accessor& by,
                       std::span<const Sge> parts, Touch touch);

/// Checks the access flags and registers `memory`, with Tagged Offsets from `base` on if that is
/// given. Errors: EINVAL, EFAULT, ENOMEM.
Outcome<std::shared_ptr<provider::Mr>> register_memory(
    const std::shared_ptr<MemoryRegistry>& registry, const std::shared_ptr<SoftPd>& pd,
    MutableBytes memory, Access access, std::optional<std::uint64_t> base = std::nullopt);

}  // namespace iwarp::verbs::soft
