#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>

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

/// Hands out the slots and keys of an STag table. Thread-safe.
class MemoryRegistry {
 public:
  MemoryRegistry();

  [[nodiscard]] ddp::StagTable& table() { return table_; }
  /// Registers a buffer; nothing if every slot is taken.
  std::optional<Stag> enable(const ddp::TaggedBuffer& buffer);
  /// Ends a registration and returns when no access to its memory is under way. What may be under
  /// way is a copy, a CRC or one system call; nobody waits for a peer here.
  void disable(Stag stag);

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::deque<std::uint32_t> free_;  // first in, first out: a slot comes back late
  std::uint32_t used_ = 0;          // slots handed out at least once
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

 private:
  std::shared_ptr<MemoryRegistry> registry_;
  std::shared_ptr<SoftPd> pd_;
  Stag stag_;
};

/// Checks the access flags and registers `memory`. Errors: EINVAL, ENOMEM.
Outcome<std::shared_ptr<provider::Mr>> register_memory(
    const std::shared_ptr<MemoryRegistry>& registry, const std::shared_ptr<SoftPd>& pd,
    MutableBytes memory, Access access);

}  // namespace iwarp::verbs::soft
