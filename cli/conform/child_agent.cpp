#include "conform/child_agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

#include "context.hpp"
#include "interrupt.hpp"

extern char** environ;

namespace iwarp::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartTime = 10s, kStopTime = 2s;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw CommandError(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    close_write_end();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write_end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// The first line; what there was if it ends or takes too long.
std::string first_line(int descriptor) {
  std::string line;
  const auto end = std::chrono::steady_clock::now() + kStartTime;
  for (;;) {
    InterruptGuard::check();
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= 0ms) return line;
    pollfd poll{descriptor, POLLIN, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::min(left, kInterruptSlice).count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char c = 0;
    if (::read(descriptor, &c, 1) != 1 || c == '\n') return line;
    line += c;
  }
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

conform::Address ChildAgent::start() {
  stop();
  Pipe output;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.write_end(), STDOUT_FILENO);
  // The terminal's Ctrl-C is for the tester: it ends the case that runs, and then the agent.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const std::string name = program_.string();
  std::vector<const char*> arguments{name.c_str(), "agent", "--listen", "127.0.0.1:0", "--once"};
  if (!device_.empty()) arguments.insert(arguments.end(), {"--device", device_.c_str()});
  arguments.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, name.c_str(), &actions, &attributes,
                                  const_cast<char* const*>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    throw CommandError(fmt::format("cannot start {}: {}", name, std::strerror(error)));
  }
  fate_.clear();
  output.close_write_end();
  const std::string line = first_line(output.read_end());
  const auto address = conform::parse_address(line.substr(line.rfind(' ') + 1));
  if (!address) {
    throw CommandError(fmt::format("'{} agent' did not say where it listens{}", name,
                                   line.empty() ? "" : ", but \"" + line + '"'));
  }
  return *address;
}

std::string ChildAgent::fate() {
  int status = 0;
  if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    pid_ = -1;
    fate_ = describe_status(status);
  }
  return fate_;
}

void ChildAgent::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  const auto end = std::chrono::steady_clock::now() + kStopTime;
  while (pid_ > 0 && std::chrono::steady_clock::now() < end) {
    if (fate().empty()) std::this_thread::sleep_for(5ms);
  }
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace iwarp::cli
