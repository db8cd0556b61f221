#include "progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "format.hpp"
#include "text/layout.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::size_t kLongestName = 30;
constexpr std::size_t kShortestName = 12;
constexpr std::size_t kShortestBar = 5;

std::string bar(double fraction, std::size_t width) {
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(width));
  return std::string(full, '#') + std::string(width - full, '.');
}

/// What stands behind the percentage, the more of it the better: from all of it to nothing.
std::vector<std::string> tails(std::uint64_t done, std::uint64_t total, double octets_per_second) {
  const std::string rate = human_rate(octets_per_second);
  const std::string moved = fmt::format(" {} of {}, {}", human_size(done), human_size(total), rate);
  if (octets_per_second <= 0) return {moved, ""};
  const double left = static_cast<double>(total - std::min(done, total)) / octets_per_second;
  return {fmt::format("{}, {:.0f} s left", moved, left), moved,
          fmt::format(" {}, {:.0f} s left", rate, left), " " + rate, ""};
}

}  // namespace

std::string progress_line(const std::string& name, std::uint64_t done, std::uint64_t total,
                          double octets_per_second, std::size_t width) {
  const double fraction =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::string percent = fmt::format(" {:3.0f}%", fraction * 100);
  const std::string_view longest = fitting(name, kLongestName);
  const std::size_t shortest = columns(fitting(longest, kShortestName));
  const std::size_t room = width - 1;  // a terminal that writes in its last column starts a line
  std::string tail;
  for (std::string& one : tails(done, total, octets_per_second)) {
    tail = std::move(one);
    if (shortest + percent.size() + tail.size() <= room) break;
  }
  const std::size_t texts = percent.size() + tail.size();
  const std::size_t left = room - std::min(room, texts);
  const std::string head = std::string(fitting(longest, left)) + percent;
  if (columns(longest) + kShortestBar + 3 > left) return std::string(fitting(head + tail, room));
  return head + " [" + bar(fraction, left - columns(longest) - 3) + "]" + tail;
}

TransferBar::TransferBar(const Context& context, std::string name)
    : visible_(context.progress_bar == ProgressBar::kAutomatic && ::isatty(STDERR_FILENO) == 1),
      name_(printable(name)),
      next_(started_ + kRedrawInterval) {}

TransferBar::~TransferBar() { erase(); }

void TransferBar::erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void TransferBar::show(std::uint64_t done, std::uint64_t total) {
  const auto now = Clock::now();
  if (!visible_ || now < next_) return;
  next_ = now + kRedrawInterval;
  drawn_ = true;
  const double rate =
      static_cast<double>(done) / std::chrono::duration<double>(now - started_).count();
  const std::string line = "\r\033[K" + progress_line(name_, done, total, rate,
                                                      terminal_columns(STDERR_FILENO).value_or(80));
  std::fputs(line.c_str(), stderr);
}

}  // namespace iwarp::cli
