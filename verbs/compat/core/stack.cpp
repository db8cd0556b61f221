#include "core/stack.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "core/async.hpp"
#include "iwarp/verbs/log.hpp"

namespace iwarp::compat {

// The one of the parent is leaked in a child: its threads are not there to be joined, and what it
// has open belongs to the parent's connections.
std::shared_ptr<verbs::provider::Provider> provider() {
  struct Current {
    std::mutex mutex;
    pid_t process = 0;
    std::shared_ptr<verbs::provider::Provider> keep;
  };
  static auto* const current = new Current;
  const std::lock_guard lock(current->mutex);
  if (current->keep != nullptr && current->process == ::getpid()) return current->keep;
  if (current->keep != nullptr) new std::shared_ptr<verbs::provider::Provider>(current->keep);
  auto opened = verbs::provider::open_software("software");
  if (!opened) return nullptr;
  current->keep = std::move(*opened);
  current->keep->on_async_event(&route_async_event);
  current->process = ::getpid();
  return current->keep;
}

bool shows_as_ib() {
  const char* as = std::getenv("IWARP_DEVICE_AS");
  return as != nullptr && std::string_view(as) == "ib";
}

namespace {

std::chrono::milliseconds chosen_receive_wait() {
  constexpr std::uint32_t kLongest = 1000;
  const char* const chosen = std::getenv("IWARP_RECEIVE_WAIT");
  if (chosen == nullptr) return std::chrono::milliseconds(kLongest);
  const std::string_view text(chosen);
  std::uint32_t wait = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), wait);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  if (whole && wait <= kLongest) return std::chrono::milliseconds(wait);
  verbs::log(verbs::LogLevel::kWarn, "IWARP_RECEIVE_WAIT=" + std::string(text) +
                                         " is not a number of milliseconds up to 1000: it is 1000");
  return std::chrono::milliseconds(kLongest);
}

}  // namespace

std::chrono::milliseconds receive_wait() {
  static const std::chrono::milliseconds wait = chosen_receive_wait();
  return wait;
}

}  // namespace iwarp::compat
