#include "capture/recorder.hpp"

#include <cerrno>
#include <chrono>
#include <utility>

#include "iwarp/process/log.hpp"

namespace iwarp::tcp_offload::capture {
namespace {

// Two start-up frames are at most 532 octets each.
constexpr std::size_t kMostUndecided = 8192;
constexpr std::size_t kWriteAt = std::size_t{1} << 20U;
constexpr std::size_t kMostWaiting = std::size_t{8} << 20U;
constexpr std::chrono::seconds kPatience{1};

WallTime now() {
  return std::chrono::duration_cast<WallTime>(std::chrono::system_clock::now().time_since_epoch());
}

std::string text(const Endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" +
         std::to_string(endpoint.port());
}

bool by_peer(std::error_code why) {
  return why == std::errc::connection_reset || why == std::errc::broken_pipe;
}

}  // namespace

Recorder::Recorder(std::shared_ptr<Writer> writer, const Endpoint& local, const Endpoint& remote,
                   Opener opener)
    : writer_(std::move(writer)), local_(local), remote_(remote), transcript_(local, remote) {
  if (opener == Opener::kUnknown) return;
  transcript_.open(opener == Opener::kLocal ? End::kLocal : End::kRemote, now(), waiting_);
}

void Recorder::start(const std::string& directory) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ != State::kUndecided) return;
    state_ = State::kRecording;
    file_.emplace(directory, local_, remote_);
  }
  writer_->add(shared_from_this());
}

bool Recorder::started() const {
  const std::lock_guard lock(mutex_);
  return file_.has_value();
}

// Lets `tell` add to what waits, and sees to it that it does not wait for ever.
template <typename Tell>
void Recorder::record(Tell tell) {
  bool enough = false;
  {
    std::unique_lock lock(mutex_);
    if (!has_room(lock)) return;
    tell(now());
    enough = state_ == State::kRecording && waiting_.size() >= kWriteAt;
    if (state_ == State::kUndecided && waiting_.size() > kMostUndecided) {
      state_ = State::kOver;  // whatever that is, it is no start-up
      waiting_ = {};
    }
  }
  if (enough) writer_->wake();
}

bool Recorder::has_room(std::unique_lock<std::mutex>& lock) {
  if (state_ == State::kRecording && waiting_.size() >= kMostWaiting &&
      !room_.wait_for(lock, kPatience, [this] { return waiting_.size() < kMostWaiting; })) {
    state_ = State::kOver;
    failure_ = failure_text("it cannot be written as fast as it grows");
  }
  return state_ != State::kOver;
}

std::string Recorder::failure_text(const std::string& why) const {
  return "the capture of " + text(local_) + " to " + text(remote_) + " in " + file_->path() +
         " ended: " + why;
}

void Recorder::sent(std::span<const iovec> pieces, std::size_t size) {
  record([&](WallTime when) { transcript_.data(End::kLocal, pieces, size, when, waiting_); });
}

void Recorder::sent(ConstBytes bytes) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // is only read
  sent({&piece, 1}, bytes.size());
}

void Recorder::received(ConstBytes bytes) {
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // is only read
  record([&](WallTime when) {
    transcript_.data(End::kRemote, {&piece, 1}, bytes.size(), when, waiting_);
  });
}

void Recorder::finished(End from) {
  record([&](WallTime when) { transcript_.finish(from, when, waiting_); });
}

void Recorder::lost(std::error_code why) {
  const End from = by_peer(why) ? End::kRemote : End::kLocal;
  record([&](WallTime when) { transcript_.reset(from, when, waiting_); });
}

void Recorder::closed() {
  finished(End::kLocal);
  left();
}

void Recorder::left() {
  bool recorded = false;
  {
    const std::lock_guard lock(mutex_);
    recorded = file_.has_value();
    state_ = State::kOver;
  }
  if (recorded && !writer_->wake()) write();
}

bool Recorder::write() {
  std::string failure;
  const bool last = write_waiting(failure);
  if (!failure.empty()) process::log(process::LogLevel::kWarn, failure);
  return last;
}

bool Recorder::write_waiting(std::string& failure) {
  const std::lock_guard file_lock(file_mutex_);
  std::vector<std::byte> batch;
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    if (written_) return true;
    batch.swap(waiting_);
    failure.swap(failure_);
    written_ = last = state_ == State::kOver;
  }
  room_.notify_all();
  if (batch.empty()) return last;
  const auto error = file_->append(batch);
  if (!error) return last;
  if (failure.empty()) failure = failure_text(error.message());
  const std::lock_guard lock(mutex_);
  state_ = State::kOver;
  waiting_ = {};
  written_ = true;
  return true;
}

bool Recorder::is_written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

}  // namespace iwarp::tcp_offload::capture
