#include "capture/writer.hpp"

#include <algorithm>
#include <utility>

#include "capture/recorder.hpp"

namespace iwarp::tcp_offload::capture {

void Writer::add(std::shared_ptr<Recorder> recorder) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  recorders_.push_back(std::move(recorder));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

bool Writer::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    woken_ = true;
  }
  changed_.notify_one();
  return true;
}

void Writer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Writer::run() {
  for (bool last = false; !last;) {
    std::vector<std::shared_ptr<Recorder>> all;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kInterval, [this] { return woken_ || stopping_; });
      woken_ = false;
      last = stopping_;
      all = recorders_;
    }
    std::erase_if(all, [](const auto& recorder) { return recorder->write(); });
    // What is left goes on.
    const std::lock_guard lock(mutex_);
    std::erase_if(recorders_, [](const auto& recorder) { return recorder->is_written(); });
    if (last) recorders_.clear();
  }
}

}  // namespace iwarp::tcp_offload::capture
