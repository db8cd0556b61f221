#pragma once

#include "verbs/forwarding_stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream whose sender dies in the middle: of what is sent only the first octets leave, then FIN,
/// or nothing but an error of the call.
class CutStream final : public ForwardingStream {
 public:
  CutStream(std::unique_ptr<tcp_offload::Stream> inner, std::uint64_t last,
            std::error_code error = {})
      : ForwardingStream(std::move(inner)), left_(last), error_(error) {}

  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    if (left_ == 0 && error_) return {tcp_offload::IoStatus::kLost, 0, error_};
    if (left_ == 0) {
      shutdown_send();
      return {};
    }
    const auto sent = send_first(pieces, static_cast<std::size_t>(left_));
    left_ -= sent.accepted;
    return sent;
  }

 private:
  std::uint64_t left_;
  const std::error_code error_;
};

}  // namespace iwarp::verbs::simtest
