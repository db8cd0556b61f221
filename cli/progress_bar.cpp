#include "progress_bar.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "format.hpp"

namespace iwarp::cli {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};
constexpr std::size_t kLongestName = 30;
constexpr std::size_t kShortestBar = 5;

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string bar(double fraction, std::size_t width) {
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(width));
  return std::string(full, '#') + std::string(width - full, '.');
}

}  // namespace

std::string progress_line(const std::string& name, std::uint64_t done, std::uint64_t total,
                          double octets_per_second, std::size_t width) {
  const double fraction =
      total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double left = static_cast<double>(total - std::min(done, total));
  const std::string eta =
      octets_per_second > 0 ? fmt::format(", {:.0f} s left", left / octets_per_second) : "";
  const std::string head =
      fmt::format("{} {:3.0f}% ", name.substr(0, kLongestName), fraction * 100);
  const std::string tail = fmt::format(" {} of {}, {}{}", human_size(done), human_size(total),
                                       human_rate(octets_per_second), eta);
  // A terminal that writes in its last column starts a new line.
  const std::size_t texts = head.size() + tail.size() + 3;
  if (texts + kShortestBar > width) return (head + tail).substr(0, width - 1);
  return head + "[" + bar(fraction, width - texts) + "]" + tail;
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
  const std::string line = "\r\033[K" + progress_line(name_, done, total, rate, terminal_width());
  std::fputs(line.c_str(), stderr);
}

}  // namespace iwarp::cli
