#pragma once

#include <memory>

#include "adapter_event.hpp"
#include "iwarp/process/forks.hpp"
#include "memory.hpp"
#include "native_object.hpp"
#include "post.hpp"
#include "shared_slots.hpp"

namespace iwarp::rnic {

/// A shared receive queue of the adapter. Any thread.
class SharedReceiveQueue final : public verbs::provider::Srq {
 public:
  static verbs::Outcome<std::shared_ptr<SharedReceiveQueue>> make(
      const std::shared_ptr<ProtectionDomain>& pd, const verbs::provider::SrqOptions& options);
  ~SharedReceiveQueue() override;

  // provider::Srq
  Result<void, verbs::PostError> post_receive(std::span<const verbs::RecvWr> requests) override;
  verbs::Outcome<void> arm_limit(std::uint32_t limit) override;
  [[nodiscard]] std::uint32_t limit() const override;
  [[nodiscard]] std::uint32_t number() const override { return label_->number; }

  [[nodiscard]] ibv_srq* native() const { return srq_.get(); }
  [[nodiscard]] const ProtectionDomain& pd() const { return *pd_; }

 private:
  SharedReceiveQueue(std::shared_ptr<ProtectionDomain> pd, std::unique_ptr<EventLabel> label,
                     NativeSrq srq, const verbs::provider::SrqOptions& options);
  int hand_over(const verbs::RecvWr& request, WorkSlot& slot);

  const std::shared_ptr<ProtectionDomain> pd_;
  const std::unique_ptr<const EventLabel> label_;
  NativeSrq srq_;
  const PostLimits limits_;
  const process::Origin origin_;
  SharedSlots slots_;
};

}  // namespace iwarp::rnic
