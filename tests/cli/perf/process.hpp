#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace iwarp::cli::perf {

/// A child process whose standard output is read here; its standard error goes to the test's.
/// Destruction kills it.
class Process {
 public:
  explicit Process(const std::vector<std::string>& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// The next line of standard output without its end; empty at the end of it.
  std::string read_line();
  /// Everything else on standard output.
  std::string read_all();
  void send_signal(int signal) const;
  /// The exit status; none if it was killed by a signal or did not end in time.
  std::optional<int> wait(std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  /// One more piece of output; false at its end.
  bool fill();

  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffered_;
};

}  // namespace iwarp::cli::perf
