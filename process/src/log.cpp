#include "iwarp/process/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "iwarp/process/forks.hpp"

namespace iwarp::process {
namespace {

using Logger = std::shared_ptr<spdlog::logger>;

// Where the lines of one process go.
struct Current {
  std::mutex mutex;
  Logger logger;               // null: to standard error
  std::atomic<int> inside{0};  // threads that may hold the mutex, or a lock of the logger's
  Origin origin;
  Current* parents = nullptr;
};

template <typename Sink>
Logger to_standard_error() {
  return std::make_shared<spdlog::logger>("iwarp", std::make_shared<Sink>());
}

// A forked child goes on with its parent's logger, unless another thread of the parent was inside:
// its locks would never come free. Then its lines go to standard error, without the locks that
// spdlog has for that.
Current* for_child_of(Current& parent) {
  auto made = std::make_unique<Current>();
  made->parents = &parent;
  made->logger = parent.inside.load() == 0
                     ? parent.logger
                     : to_standard_error<spdlog::sinks::stderr_color_sink_st>();
  return made.release();
}

// Never destroyed, unlike spdlog's registry: threads may outlive what is.
Current& current() {
  static std::atomic<Current*> only{new Current};
  Current* now = only.load();
  while (now->origin.inherited()) {
    std::unique_ptr<Current> made(for_child_of(*now));
    if (only.compare_exchange_strong(now, made.get())) now = made.release();
  }
  return *now;
}

/// A thread's use of the logger.
class Use {
 public:
  Use() : now_(current()) { now_.inside.fetch_add(1); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { now_.inside.fetch_sub(1); }

  [[nodiscard]] Logger logger() const {
    const std::lock_guard lock(now_.mutex);
    if (!now_.logger) now_.logger = to_standard_error<spdlog::sinks::stderr_color_sink_mt>();
    return now_.logger;
  }
  /// Returns the one before.
  [[nodiscard]] Logger exchange(Logger logger) const {
    const std::lock_guard lock(now_.mutex);
    return std::exchange(now_.logger, std::move(logger));
  }

 private:
  Current& now_;
};

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: break;
  }
  return spdlog::level::warn;
}

}  // namespace

void set_logger(Logger logger) {
  const Use use;
  const Logger before = use.exchange(std::move(logger));
}

void log(LogLevel level, std::string_view line) try {
  const Use use;
  use.logger()->log(level_of(level), "{}", line);
} catch (const std::exception&) {  // no line is worth what is going on
}

void LogLimit::log(LogLevel level, std::string_view line, Clock::time_point now) {
  if (!logs(level)) return;
  std::size_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    if (written_ == 0 || now - since_ >= interval_) {
      since_ = now;
      written_ = 0;
      left_out = std::exchange(left_out_, 0);
    }
    if (written_ == most_) {
      ++left_out_;
      return;
    }
    ++written_;
  }
  if (left_out != 0) {
    process::log(level, std::to_string(left_out) + " lines like the next were left out");
  }
  process::log(level, line);
}

bool logs(LogLevel level) try {
  const Use use;
  return use.logger()->should_log(level_of(level));
} catch (const std::exception&) {
  return false;
}

}  // namespace iwarp::process
