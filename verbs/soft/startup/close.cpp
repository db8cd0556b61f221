#include "soft/startup/close.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "iwarp/process/log.hpp"
#include "iwarp/verbs/connection.hpp"
#include "soft/engine/stream_closer.hpp"

namespace iwarp::verbs::soft {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{5};
constexpr milliseconds kLongestPause{320};

/// A stream that has left the executor's reactor has no readiness there: it is looked at now and
/// then. The time is that of the pauses, in which the process has run.
class Closing : public std::enable_shared_from_this<Closing> {
 public:
  Closing(ClosingStream stream, std::unique_ptr<tcp_offload::Timer> timer)
      : closer_(std::in_place, std::move(stream), StreamCloser::Time{}), timer_(std::move(timer)) {}

  void look() {
    if (closer_->turn(StreamCloser::Time{} + waited_) != StreamCloser::State::kOver) return wait();
    if (!closer_->failure().empty()) {
      process::log(process::LogLevel::kWarn, closer_->failure());
    }
    closer_.reset();
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

  std::optional<StreamCloser> closer_;
  std::unique_ptr<tcp_offload::Timer> timer_;
  milliseconds pause_ = kFirstPause;
  milliseconds waited_{0};
};

}  // namespace

void close_gently(tcp_offload::Device& device,
                  std::unique_ptr<tcp_offload::Connection> connection) {
  // A Terminate that went out in streaming mode has its CRC and Markers already.
  auto stream = connection->hand_over({});
  if (stream == nullptr) return;
  ClosingStream closing;
  closing.stream = std::move(stream);
  closing.linger = kDefaultLinger;
  std::make_shared<Closing>(std::move(closing), device.make_timer())->look();
}

}  // namespace iwarp::verbs::soft
