#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

namespace spdlog {
class logger;
}

namespace iwarp::process {

/// How much a line matters.
enum class LogLevel { kDebug, kInfo, kWarn };

/// Where the stack's lines go from now on; null: to standard error again, from level info on, which
/// is the default. Any thread. The logger is kept until another one takes its place, to the end of
/// the process if none does, as threads of the stack may still have something to say while the
/// program's own objects are being destroyed.
void set_logger(std::shared_ptr<spdlog::logger> logger);

/// Writes one line, if there is memory for it. Any thread. Not to be called under a lock: the line
/// may go to a slow place.
void log(LogLevel level, std::string_view line);

/// Whether a line of that level would be written anywhere.
bool logs(LogLevel level);

/// Lines of one kind that a stranger can cause: so many in each interval, which begins with the
/// first. How many were left out is told in front of the next one that is written. Any thread.
class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;  ///< Of the intervals.
  /// `most` lines in each `interval`.
  explicit LogLimit(std::size_t most = 20, Clock::duration interval = std::chrono::seconds(10))
      : most_(most), interval_(interval) {}

  /// As process::log(), or not at all.
  void log(LogLevel level, std::string_view line) { log(level, line, Clock::now()); }
  /// The same, for a caller that knows the time.
  void log(LogLevel level, std::string_view line, Clock::time_point now);

 private:
  const std::size_t most_;
  const Clock::duration interval_;
  std::mutex mutex_;
  Clock::time_point since_{};
  std::size_t written_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace iwarp::process
