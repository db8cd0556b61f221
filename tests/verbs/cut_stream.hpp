#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream whose sender dies in the middle: of what is sent only the first octets leave, then FIN,
/// or nothing but an error of the call.
class CutStream final : public tcp_offload::Stream {
 public:
  CutStream(std::unique_ptr<tcp_offload::Stream> inner, std::uint64_t last,
            std::error_code error = {})
      : inner_(std::move(inner)), left_(last), error_(error) {}

  tcp_offload::Received receive(MutableBytes scratch) override { return inner_->receive(scratch); }
  void consume(std::size_t n) override { inner_->consume(n); }
  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    std::vector<iovec> some;
    std::size_t offered = 0;
    for (const iovec& piece : pieces) {
      const std::size_t room = static_cast<std::size_t>(left_) - offered;
      if (room == 0) break;
      some.push_back({piece.iov_base, std::min(piece.iov_len, room)});
      offered += some.back().iov_len;
    }
    if (left_ == 0 && error_) return {tcp_offload::IoStatus::kLost, 0, error_};
    if (left_ == 0) {
      inner_->shutdown_send();
      return {};
    }
    const auto sent = inner_->send(some);
    left_ -= sent.accepted;
    return sent;
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
  std::uint64_t left_;
  const std::error_code error_;
};

}  // namespace iwarp::verbs::simtest
