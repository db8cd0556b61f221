#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "verbs/forwarding_stream.hpp"

namespace iwarp::verbs::simtest {

/// A stream that lets the test answer in its place.
class AnsweredStream final : public ForwardingStream {
 public:
  using Answer = std::function<std::optional<tcp_offload::Sent>(std::span<const iovec>)>;
  /// `answer` outlives it; it may be empty, and may answer nothing.
  AnsweredStream(std::unique_ptr<tcp_offload::Stream> inner, const Answer& answer)
      : ForwardingStream(std::move(inner)), answer_(answer) {}

  tcp_offload::Sent send(std::span<const iovec> pieces) override {
    const auto sent = answer_ ? answer_(pieces) : std::nullopt;
    return sent ? *sent : ForwardingStream::send(pieces);
  }

 private:
  const Answer& answer_;
};

/// Answers nothing, and notes how many octets each call offers.
inline AnsweredStream::Answer noting_octets(std::vector<std::size_t>& offers) {
  return [&offers](std::span<const iovec> pieces) -> std::optional<tcp_offload::Sent> {
    std::size_t& octets = offers.emplace_back(0);
    for (const iovec& piece : pieces) octets += piece.iov_len;
    return std::nullopt;
  };
}

}  // namespace iwarp::verbs::simtest
