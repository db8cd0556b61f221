#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream that shows what it is offered before it takes it, and may take less.
class WatchedStream final : public tcp_offload::Stream {
 public:
  using Watch = std::function<void(std::span<const iovec>)>;

  WatchedStream(std::unique_ptr<tcp_offload::Stream> inner, Watch watch, std::size_t most)
      : inner_(std::move(inner)), watch_(std::move(watch)), most_(most) {}

  tcp_offload::Received receive(MutableBytes scratch) override { return inner_->receive(scratch); }
  void consume(std::size_t n) override { inner_->consume(n); }
  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    watch_(pieces);
    std::vector<iovec> some;
    std::size_t left = most_;
    for (const iovec& piece : pieces) {
      if (left == 0) break;
      some.push_back({piece.iov_base, std::min(piece.iov_len, left)});
      left -= some.back().iov_len;
    }
    return inner_->send(some);
  }
  [[nodiscard]] std::uint64_t released() const override { return inner_->released(); }
  [[nodiscard]] tcp_offload::Delivery delivery() const override { return inner_->delivery(); }
  [[nodiscard]] std::size_t emss() const override { return inner_->emss(); }
  [[nodiscard]] int descriptor() const override { return inner_->descriptor(); }
  void shutdown_send() override { inner_->shutdown_send(); }
  void abort() override { inner_->abort(); }
  [[nodiscard]] tcp_offload::Endpoint local() const override { return inner_->local(); }
  [[nodiscard]] tcp_offload::Endpoint remote() const override { return inner_->remote(); }

 private:
  std::unique_ptr<tcp_offload::Stream> inner_;
  const Watch watch_;
  const std::size_t most_;
};

}  // namespace iwarp::verbs::simtest
