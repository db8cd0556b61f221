#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace iwarp::tcp_offload::capture {

class Recorder;

/// The thread that writes what recorders have gathered. Every member may be called from any thread,
/// stop() from one.
class Writer {
 public:
  ~Writer() { stop(); }

  /// Writes for `recorder` until it is over; starts the thread if there is none yet.
  void add(std::shared_ptr<Recorder> recorder);
  /// Does not wait for the next second. False once stopped: nobody will write any more.
  bool wake();
  /// Writes what is there, and ends.
  void stop();

 private:
  static constexpr std::chrono::seconds kInterval{1};
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  bool stopping_ = false;
  std::vector<std::shared_ptr<Recorder>> recorders_;
  std::thread thread_;
};

}  // namespace iwarp::tcp_offload::capture
