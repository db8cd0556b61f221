#pragma once

#include <memory>

#include "iwarp/process/forks.hpp"
#include "iwarp/provider/inherited.hpp"
#include "iwarp/verbs/provider.hpp"
#include "soft/qp/halves/halves.hpp"
#include "soft/qp/parts.hpp"
#include "soft/qp/start_up.hpp"

namespace iwarp::verbs::soft {

/// The most elements of a gather or scatter list.
inline constexpr std::uint32_t kMaxSges = connection::Outbound::kMaxSges;

/// A queue pair of the software provider, as the program sees it: posting, the ends that it asks
/// for, and what it is told. The protocol runs in the two halves.
class SoftQp final : public provider::Qp {
 public:
  using Init = SoftQpInit;
  static std::shared_ptr<SoftQp> make(Init init);
  /// For make().
  explicit SoftQp(Init init) : parts_(std::move(init)) {}
  ~SoftQp() override;
  SoftQp(const SoftQp&) = delete;
  SoftQp& operator=(const SoftQp&) = delete;

  // provider::Qp
  Result<void, PostError> post_send(std::span<const SendWr> requests,
                                    Posting posting = Posting::kUntilRefused) override;
  Result<void, PostError> post_receive(std::span<const RecvWr> requests) override;
  void allow_peer(Access rights) override { parts_.allowed.store(rights_of(rights)); }
  void use_manager() override;
  Outcome<void> connect(const Endpoint& to, const ConnectOptions& options) override;
  Outcome<void> adopt(StreamingSocket& socket, const ConnectOptions& options) override;
  void disconnect() override;
  void close() override;
  void abort() override;
  void release() override;
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] QpState state() const override;
  [[nodiscard]] std::uint32_t number() const override { return parts_.init.number; }
  [[nodiscard]] QpCapacity capacity() const override { return parts_.init.capacity; }
  [[nodiscard]] QpCounters counters() const override;
  [[nodiscard]] std::optional<TerminateInfo> terminate_sent() const override;
  [[nodiscard]] std::optional<TerminateInfo> terminate_received() const override;
  [[nodiscard]] Diagnosis diagnosis() const override;

  /// As whom this queue pair uses memory.
  [[nodiscard]] ddp::Accessor accessor() const { return parts_.accessor(); }
  /// What takes part in start-ups for it, and keeps it.
  [[nodiscard]] std::shared_ptr<ResponderQp> responder() {
    return {parts_.self.lock(), &start_up_};
  }
  /// Whether it is of the device of these.
  [[nodiscard]] bool works_with(const Services& services) const {
    return parts_.init.services.get() == &services;
  }
  /// What runs its connection.
  [[nodiscard]] QpHalves& halves() { return halves_; }

 private:
  Outcome<void> start_up(const QpStartUp::StartInitiator& start);
  [[nodiscard]] SendWork::Admission admission() const;

  QpParts parts_;
  QpHalves halves_{parts_};
  QpStartUp start_up_{parts_, halves_};
};

}  // namespace iwarp::verbs::soft
