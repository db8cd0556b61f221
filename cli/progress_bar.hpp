#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "context.hpp"

namespace iwarp::cli {

/// One line of progress. Precondition: width >= 1; never longer than `width` columns.
std::string progress_line(const std::string& name, std::uint64_t done, std::uint64_t total,
                          double octets_per_second, std::size_t width);

/// A bar on standard error, if that is a terminal and the context wants one. Erased at the end.
class TransferBar {
 public:
  TransferBar(const Context& context, std::string name);
  ~TransferBar();
  TransferBar(const TransferBar&) = delete;
  TransferBar& operator=(const TransferBar&) = delete;

  /// Redraws the bar, a few times a second at most.
  void show(std::uint64_t done, std::uint64_t total);
  /// Removes the bar, so that other output has the line.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  bool visible_;
  bool drawn_ = false;
  std::string name_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace iwarp::cli
