#include "cli/perf/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

namespace iwarp::cli::perf {
namespace {

constexpr int kOutputPatience = 60'000;  // milliseconds

[[noreturn]] void become(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  dup2(output, STDOUT_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  output_ = ends[0];
  pid_ = fork();
  if (pid_ == 0) become(command, ends[1]);
  close(ends[1]);
  if (pid_ < 0) throw std::runtime_error("fork");
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(output_);
}

std::string Process::read_line() {
  while (buffered_.find('\n') == std::string::npos && fill()) {
  }
  const std::size_t end = buffered_.find('\n');
  std::string line = buffered_.substr(0, end);
  buffered_.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

std::string Process::read_all() {
  while (fill()) {
  }
  return std::exchange(buffered_, {});
}

bool Process::fill() {
  pollfd entry{output_, POLLIN, 0};
  if (poll(&entry, 1, kOutputPatience) <= 0) return false;
  std::array<char, 4096> piece{};
  const ssize_t n = read(output_, piece.data(), piece.size());
  if (n <= 0) return false;
  buffered_.append(piece.data(), static_cast<std::size_t>(n));
  return true;
}

void Process::send_signal(int signal) const { kill(pid_, signal); }

std::optional<int> Process::wait(std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  pid_ = -1;
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

}  // namespace iwarp::cli::perf
