#pragma once

#include <memory>

#include "connection.hpp"

namespace iwarp::rnic {

/// A queue pair as the verbs' handles see it.
class QueuePair final : public verbs::provider::Qp {
 public:
  /// Errors: EINVAL beyond the limits, ENOTSUP for what an adapter's queue pair cannot do; the
  /// system's.
  static verbs::Outcome<std::shared_ptr<QueuePair>> make(
      const std::shared_ptr<Host>& host, const verbs::DeviceAttributes& limits,
      const std::shared_ptr<ProtectionDomain>& pd, verbs::provider::QpInit init);
  QueuePair(std::shared_ptr<Host> host, std::shared_ptr<NativeQp> qp, verbs::provider::QpInit init);
  ~QueuePair() override;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // provider::Qp
  Result<void, verbs::PostError> post_send(std::span<const verbs::SendWr> requests,
                                           verbs::Posting posting) override;
  Result<void, verbs::PostError> post_receive(std::span<const verbs::RecvWr> requests) override;
  void allow_peer(verbs::Access rights) override;
  verbs::Outcome<void> connect(const verbs::Endpoint& to,
                               const verbs::ConnectOptions& options) override;
  verbs::Outcome<void> adopt(verbs::StreamingSocket& socket,
                             const verbs::ConnectOptions& options) override;
  void disconnect() override;
  void close() override;
  void abort() override;
  void release() override;
  [[nodiscard]] bool drained() const override;
  [[nodiscard]] verbs::QpState state() const override;
  [[nodiscard]] std::uint32_t number() const override { return native_->number(); }
  [[nodiscard]] verbs::QpCapacity capacity() const override { return native_->capacity(); }
  [[nodiscard]] verbs::QpCounters counters() const override { return {}; }
  [[nodiscard]] std::optional<verbs::TerminateInfo> terminate_sent() const override { return {}; }
  [[nodiscard]] std::optional<verbs::TerminateInfo> terminate_received() const override {
    return {};
  }
  [[nodiscard]] verbs::Diagnosis diagnosis() const override;

  [[nodiscard]] Connection& connection() { return *connection_; }
  [[nodiscard]] const std::shared_ptr<Host>& host() const { return host_; }

 private:
  const std::shared_ptr<Host> host_;
  const std::shared_ptr<NativeQp> native_;
  const std::shared_ptr<Connection> connection_;
  const process::Origin origin_;
  std::atomic<bool> released_{false};
};

/// What an adapter's start-up cannot be asked for. Errors: EINVAL beyond the limits, ENOTSUP.
verbs::Outcome<void> check_options(const Adapter& adapter, const verbs::ConnectOptions& options);

/// Errors: EINVAL for more than kMostPrivateData.
verbs::Outcome<void> check_private_data(const Adapter& adapter, std::size_t octets);

}  // namespace iwarp::rnic
