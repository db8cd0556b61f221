#pragma once

#include <atomic>
#include <memory>

#include "capture/recorder.hpp"
#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::tcp_offload::capture {

/// A stream that is recorded.
class CapturedStream final : public Stream {
 public:
  /// The first `known` octets that `inner` lends have been recorded already.
  CapturedStream(std::unique_ptr<Stream> inner, std::shared_ptr<Recorder> recorder,
                 std::size_t known)
      : inner_(std::move(inner)), recorder_(std::move(recorder)), known_(known) {}
  ~CapturedStream() override;

  Received receive(MutableBytes scratch) override;
  void consume(std::size_t n) override { inner_->consume(n); }
  Sent send(std::span<const iovec> pieces) override;
  [[nodiscard]] std::uint64_t released() const override { return inner_->released(); }
  [[nodiscard]] Delivery delivery() const override { return inner_->delivery(); }
  [[nodiscard]] std::size_t emss() const override { return inner_->emss(); }
  [[nodiscard]] std::size_t send_quantum() const override { return inner_->send_quantum(); }
  [[nodiscard]] int descriptor() const override { return inner_->descriptor(); }
  void shutdown_send() override;
  void abort() override;
  void watch_peer(const PeerWatch& watch) override { inner_->watch_peer(watch); }
  [[nodiscard]] Endpoint local() const override { return inner_->local(); }
  [[nodiscard]] Endpoint remote() const override { return inner_->remote(); }

 private:
  std::unique_ptr<Stream> inner_;
  const std::shared_ptr<Recorder> recorder_;
  std::size_t known_;                   // the receive half's
  std::atomic<bool> shut_down_{false};  // sending then fails without a loss
};

}  // namespace iwarp::tcp_offload::capture
