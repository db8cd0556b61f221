#include "soft/startup/close.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace iwarp::verbs::soft {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinger{2000};
constexpr milliseconds kFirstPause{5};
constexpr milliseconds kLongestPause{320};
/// Octets thrown away at a time; a peer that sends more than that between two looks is not closing.
constexpr std::size_t kLook = 65536;

/// A stream that has left the executor's reactor has no readiness there: it is looked at now and
/// then.
class Closing : public std::enable_shared_from_this<Closing> {
 public:
  Closing(std::unique_ptr<tcp_offload::Stream> stream, std::unique_ptr<tcp_offload::Timer> timer)
      : stream_(std::move(stream)), timer_(std::move(timer)) {}

  void look() {
    if (waited_ < kLinger && !ended()) return wait();
    stream_.reset();
    timer_.reset();
  }

 private:
  void wait() {
    const milliseconds pause = std::exchange(pause_, std::min(2 * pause_, kLongestPause));
    waited_ += pause;
    timer_->async_wait(pause, [self = shared_from_this()](std::error_code error) {
      if (!error) self->look();
    });
  }

  /// Whether the peer has closed, after what it sent has been thrown away.
  bool ended() {
    std::array<std::byte, 4096> scratch;
    for (std::size_t seen = 0; seen < kLook;) {
      const tcp_offload::Received received = stream_->receive(scratch);
      if (received.status == tcp_offload::IoStatus::kWouldBlock) return false;
      if (received.status != tcp_offload::IoStatus::kOk) return true;
      seen += received.data.size();
      stream_->consume(received.data.size());
    }
    return false;
  }

  std::unique_ptr<tcp_offload::Stream> stream_;
  std::unique_ptr<tcp_offload::Timer> timer_;
  milliseconds pause_ = kFirstPause;
  milliseconds waited_{0};
};

}  // namespace

void close_gently(tcp_offload::Device& device,
                  std::unique_ptr<tcp_offload::Connection> connection) {
  auto stream = connection->hand_over({});
  if (stream == nullptr) return;
  stream->shutdown_send();
  std::make_shared<Closing>(std::move(stream), device.make_timer())->look();
}

}  // namespace iwarp::verbs::soft
