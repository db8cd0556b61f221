#pragma once

#include <functional>

#include "verbs/forwarding_stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream that shows what it is offered before it takes it, and may take less.
class WatchedStream final : public ForwardingStream {
 public:
  using Watch = std::function<void(std::span<const iovec>)>;

  WatchedStream(std::unique_ptr<tcp_offload::Stream> inner, Watch watch, std::size_t most)
      : ForwardingStream(std::move(inner)), watch_(std::move(watch)), most_(most) {}

  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    watch_(pieces);
    return send_first(pieces, most_);
  }

 private:
  const Watch watch_;
  const std::size_t most_;
};

}  // namespace iwarp::verbs::simtest
