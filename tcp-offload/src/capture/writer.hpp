#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "iwarp/process/forks.hpp"

namespace iwarp::tcp_offload::capture {

class Recorder;

/// The thread that writes what recorders have gathered. Every member may be called from any thread,
/// stop() from one. A process that ends with a writer still at work, as one does that destroys
/// nothing, loses nothing of what was recorded before.
class Writer {
 public:
  static std::shared_ptr<Writer> make();
  ~Writer() { stop(); }

  /// Writes for `recorder` until it is over; starts the thread if there is none yet.
  void add(std::shared_ptr<Recorder> recorder);
  /// Does not wait for the next second. False once stopped: no thread will write any more.
  bool wake();
  /// Writes what is there, and ends.
  void stop();
  /// Writes what is there now, in the caller's thread. Does nothing in a process forked since.
  void flush();

 private:
  Writer() = default;
  static constexpr std::chrono::seconds kInterval{1};
  void run();

  const process::Origin origin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  std::thread thread_;
};

}  // namespace iwarp::tcp_offload::capture
