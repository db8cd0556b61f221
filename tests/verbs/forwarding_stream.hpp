#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream in front of another one, for a test that changes what is sent.
class ForwardingStream : public tcp_offload::Stream {
 public:
  explicit ForwardingStream(std::unique_ptr<tcp_offload::Stream> inner)
      : inner_(std::move(inner)) {}

  tcp_offload::Received receive(MutableBytes scratch) override { return inner_->receive(scratch); }
  void consume(std::size_t n) override { inner_->consume(n); }
  tcp_offload::Sent send(std::span<const iovec> pieces) override { return inner_->send(pieces); }
  [[nodiscard]] std::uint64_t released() const override { return inner_->released(); }
  [[nodiscard]] tcp_offload::Delivery delivery() const override { return inner_->delivery(); }
  [[nodiscard]] std::size_t emss() const override { return inner_->emss(); }
  [[nodiscard]] std::size_t send_quantum() const override { return inner_->send_quantum(); }
  [[nodiscard]] int descriptor() const override { return inner_->descriptor(); }
  void shutdown_send() override { inner_->shutdown_send(); }
  void abort() override { inner_->abort(); }
  void watch_peer(const tcp_offload::PeerWatch& watch) override { inner_->watch_peer(watch); }
  [[nodiscard]] tcp_offload::Endpoint local() const override { return inner_->local(); }
  [[nodiscard]] tcp_offload::Endpoint remote() const override { return inner_->remote(); }

 protected:
  /// Sends no more than the first `most` octets of the pieces.
  tcp_offload::Sent send_first(std::span<const iovec> pieces, std::size_t most) {
    std::vector<iovec> some;
    for (const iovec& piece : pieces) {
      if (most == 0) break;
      some.push_back({piece.iov_base, std::min(piece.iov_len, most)});
      most -= some.back().iov_len;
    }
    return inner_->send(some);
  }

 private:
  const std::unique_ptr<tcp_offload::Stream> inner_;
};

}  // namespace iwarp::verbs::simtest
