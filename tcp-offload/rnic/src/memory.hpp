#pragma once

#include <memory>

#include "host.hpp"
#include "iwarp/process/forks.hpp"
#include "native_object.hpp"

namespace iwarp::rnic {

/// Rights as the adapter has them.
unsigned native_access(verbs::Access access);

/// A protection domain of the adapter.
class ProtectionDomain final : public verbs::provider::Pd {
 public:
  static verbs::Outcome<std::shared_ptr<ProtectionDomain>> make(std::shared_ptr<Host> host);
  ~ProtectionDomain() override;

  [[nodiscard]] ibv_pd* native() const { return pd_.get(); }
  [[nodiscard]] const std::shared_ptr<Host>& host() const { return host_; }
  [[nodiscard]] Adapter& adapter() const { return *host_->adapter(); }
  [[nodiscard]] const std::shared_ptr<BoundMemory>& bound() const { return host_->bound(); }

 private:
  ProtectionDomain(std::shared_ptr<Host> host, NativePd pd)
      : host_(std::move(host)), pd_(std::move(pd)) {}

  const std::shared_ptr<Host> host_;
  NativePd pd_;
  const process::Origin origin_;
};

/// Memory that the adapter knows.
class MemoryRegion final : public verbs::provider::Mr {
 public:
  /// Errors: EINVAL for rights that need local write; ENOTSUP for what the adapter lacks; the
  /// system's.
  static verbs::Outcome<std::shared_ptr<MemoryRegion>> make(
      const std::shared_ptr<ProtectionDomain>& pd, MutableBytes memory, verbs::Access access);
  ~MemoryRegion() override;

  // provider::Mr
  [[nodiscard]] Stag lkey() const override { return Stag{mr_->lkey}; }
  [[nodiscard]] Stag rkey() const override { return Stag{mr_->rkey}; }

 private:
  MemoryRegion(std::shared_ptr<ProtectionDomain> pd, NativeMr mr, bool bindable);

  const std::shared_ptr<ProtectionDomain> pd_;
  NativeMr mr_;
  const bool bindable_;
  const process::Origin origin_;
};

/// A memory window of type 2 of the adapter.
class MemoryWindow final : public verbs::provider::Mw {
 public:
  /// Errors: ENOTSUP for type 1, whose keys adapters choose when they bind, and where there are
  /// none; the system's.
  static verbs::Outcome<std::shared_ptr<MemoryWindow>> make(
      const std::shared_ptr<ProtectionDomain>& pd, verbs::WindowType type);
  ~MemoryWindow() override;

  // provider::Mw
  [[nodiscard]] verbs::WindowType type() const override { return verbs::WindowType::k2; }
  [[nodiscard]] Stag rkey() const override { return Stag{mw_->rkey}; }
  Stag next_rkey() override { return Stag{ibv_inc_rkey(mw_->rkey)}; }

 private:
  MemoryWindow(std::shared_ptr<ProtectionDomain> pd, NativeMw mw);

  const std::shared_ptr<ProtectionDomain> pd_;
  NativeMw mw_;
  const process::Origin origin_;
};

}  // namespace iwarp::rnic
