#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "capture/capture_file.hpp"
#include "capture/transcript.hpp"
#include "capture/writer.hpp"

namespace iwarp::tcp_offload::capture {

/// Which end opened a TCP connection, if that is known.
enum class Opener : std::uint8_t { kLocal, kRemote, kUnknown };

/// What happens on one connection, on its way into a file. Until start() it is kept in memory, as
/// much as the frames of a start-up come to. Every member may be called from any thread.
class Recorder : public std::enable_shared_from_this<Recorder> {
 public:
  Recorder(std::shared_ptr<Writer> writer, const Endpoint& local, const Endpoint& remote,
           Opener opener);

  /// Writes into `directory` from here on; once.
  void start(const std::string& directory);
  /// Whether start() was called.
  [[nodiscard]] bool started() const;

  void sent(std::span<const iovec> pieces, std::size_t size);
  void sent(ConstBytes bytes);
  void received(ConstBytes bytes);
  void finished(End from);
  /// The connection was reset, timed out or, by this end, aborted.
  void lost(std::error_code why);
  /// This end has closed it: nothing more is to come.
  void closed();
  /// This end has lost sight of it.
  void left();

  /// Writes what there is: for the writer's thread, or once that has ended. Logs a failure. True if
  /// that was the last.
  bool write();
  [[nodiscard]] bool is_written() const;

 private:
  enum class State : std::uint8_t { kUndecided, kRecording, kOver };

  template <typename Tell>
  void record(Tell tell);
  bool has_room(std::unique_lock<std::mutex>& lock);
  bool write_waiting(std::string& failure);
  [[nodiscard]] std::string failure_text(const std::string& why) const;

  const std::shared_ptr<Writer> writer_;
  const Endpoint local_, remote_;
  mutable std::mutex mutex_;
  std::condition_variable room_;
  State state_ = State::kUndecided;
  bool written_ = false;  // nothing is left for the writer to do
  std::string failure_;   // a line that the writer is to log
  Transcript transcript_;
  std::vector<std::byte> waiting_;
  std::optional<CaptureFile> file_;  // made by start(); then guarded by file_mutex_
  std::mutex file_mutex_;            // taken before mutex_
};

}  // namespace iwarp::tcp_offload::capture
