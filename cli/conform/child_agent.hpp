#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "harness/tcp.hpp"

namespace iwarp::cli {

/// A process that runs `PROGRAM agent` on this machine for as long as this lives, with the device
/// of that name (--device) unless it is empty.
class ChildAgent {
 public:
  ChildAgent(std::filesystem::path program, std::string device)
      : program_(std::move(program)), device_(std::move(device)) {}
  ChildAgent(const ChildAgent&) = delete;
  ChildAgent& operator=(const ChildAgent&) = delete;
  ~ChildAgent() { stop(); }

  /// Ends the process if there is one, and starts it; where it listens. Throws a CommandError if
  /// the program does not say that it listens within ten seconds.
  conform::Address start();
  /// What became of the process if it ended by itself: "ended with status 3", "was killed by
  /// signal 11 (Segmentation fault)"; empty while it runs.
  std::string fate();

 private:
  void stop();

  std::filesystem::path program_;
  std::string device_;
  pid_t pid_ = -1;
  std::string fate_;
};

}  // namespace iwarp::cli
