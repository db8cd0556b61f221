#include "capture/writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "capture/recorder.hpp"
#include "iwarp/process/quiet_thread.hpp"

namespace iwarp::tcp_offload::capture {
namespace {

class AllWriters {
 public:
  void add(const std::shared_ptr<Writer>& writer) {
    const std::lock_guard lock(mutex_);
    std::erase_if(writers_, [](const auto& known) { return known.expired(); });
    writers_.push_back(writer);
  }

  void flush() {
    std::vector<std::weak_ptr<Writer>> writers;
    {
      const std::lock_guard lock(mutex_);
      writers = writers_;
    }
    for (const auto& known : writers) {
      if (const auto writer = known.lock()) writer->flush();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Writer>> writers_;
};

}  // namespace

std::shared_ptr<Writer> Writer::make() {
  [[maybe_unused]] static const int at_exit =
      std::atexit([] { process::of_this_process<AllWriters>().flush(); });
  std::shared_ptr<Writer> writer(new Writer);
  process::of_this_process<AllWriters>().add(writer);
  return writer;
}

void Writer::flush() {
  if (origin_.inherited()) return;
  std::vector<std::shared_ptr<Recorder>> all;
  {
    const std::lock_guard lock(mutex_);
    all = recorders_;
  }
  for (const auto& recorder : all) recorder->write();
}

void Writer::add(std::shared_ptr<Recorder> recorder) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  recorders_.push_back(std::move(recorder));
  if (!thread_.joinable()) thread_ = process::quiet_thread([this] { run(); });
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
