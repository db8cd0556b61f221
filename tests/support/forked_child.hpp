#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/sanitizers.hpp"

/// Children of a test.
namespace iwarp::test {

/// What the system says of a thread, of this process or the first of another (proc(5),
/// /proc/tid/status).
struct ThreadStatus {
  bool sleeps = false;
  std::string switches;  ///< How often it has left a processor: the same as long as it sleeps on.
};

inline ThreadStatus status_of_thread(const std::string& number) {
  ThreadStatus status;
  std::ifstream file("/proc/" + number + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("State:\tS")) status.sleeps = true;
    if (line.find("ctxt_switches:") != line.npos) status.switches += line + '\n';
  }
  return status;
}

inline bool sleeps(pid_t thread) { return status_of_thread(std::to_string(thread)).sleeps; }

/// The other threads of this process, and what they have done so far, as long as all of them sleep;
/// else nothing. The same answer twice means that none of them ran in between.
inline std::optional<std::string> rest_of_other_threads() {
  std::string all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string number = task.path().filename();
    if (number == std::to_string(::gettid())) continue;
    const ThreadStatus status = status_of_thread(number);
    if (!status.sleeps) return std::nullopt;
    all += number + '\n' + status.switches;
  }
  return all;
}

/// Waits until the other threads rest, for two seconds if they never do. A sanitizer needs that
/// before a fork: what one of its threads has locked for an allocation is locked in the child for
/// ever (GCC 12's runtimes unlock some of it only).
inline void await_other_threads_rest() {
  constexpr std::chrono::milliseconds kLook{1};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  std::optional<std::string> before;
  while (std::chrono::steady_clock::now() < end) {
    auto now = rest_of_other_threads();
    if (now && now == before) return;
    before = std::move(now);
    std::this_thread::sleep_for(kLook);
  }
}

/// Forks. A child has twenty seconds, or as many as are said.
inline pid_t fork_for(unsigned seconds = 20) {
  if constexpr (kSanitizer) await_other_threads_rest();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) ::alarm(seconds);
  return child;
}

/// Runs `body` in a forked child, which has twenty seconds. 0 if it returned true; otherwise what
/// waitpid(2) says. Nothing runs at the child's end: no destructors, no handlers, no leak check.
template <typename Body>
int status_of_child(const Body& body) {
  const pid_t child = fork_for();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  return status;
}

/// A pipe, for one process to wait for another.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw std::runtime_error("pipe");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_reader();
    close_writer();
  }

  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }
  template <typename T>
  void write(const T& value) const {
    if (::write(ends_[1], &value, sizeof value) != sizeof value) throw std::runtime_error("write");
  }
  template <typename T>
  [[nodiscard]] T read() const {
    T value{};
    if (::read(ends_[0], &value, sizeof value) != sizeof value) throw std::runtime_error("read");
    return value;
  }
  /// Until every writer has closed it; what they wrote.
  [[nodiscard]] std::string read_all() const {
    std::string all;
    char some[512];
    for (ssize_t n = 0; (n = ::read(ends_[0], some, sizeof some)) > 0;) {
      all.append(some, static_cast<std::size_t>(n));
    }
    return all;
  }

 private:
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  int ends_[2] = {-1, -1};
};

}  // namespace iwarp::test
