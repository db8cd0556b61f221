#include "shared/stack.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "events/async.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/log.hpp"
#include "shared/process_end.hpp"

namespace iwarp::compat {

namespace {

struct Current {
  std::mutex mutex;
  std::shared_ptr<verbs::provider::Provider> keep;
  std::atomic<verbs::provider::Provider*> in_use{nullptr};
};

// Whether there was ever one, since the end of a process is no time to make the first.
constinit std::atomic<bool> any_made{false};

Current& current() {
  Current& now = process::of_this_process<Current>();
  any_made.store(true);
  return now;
}

// Runs behind the exit handlers of the program, which may still send. A program that ends without
// having destroyed anything counts on what has completed all the same; the threads that would see
// to that go with the process.
__attribute__((destructor)) void finish_connections() {
  if (!any_made.load()) return;
  auto* const provider = current().in_use.load();
  if (provider == nullptr) return;
  begin_process_end();
  provider->finish();
}

}  // namespace

std::shared_ptr<verbs::provider::Provider> provider() {
  Current& now = current();
  const std::lock_guard lock(now.mutex);
  if (now.keep != nullptr) return now.keep;
  auto opened = verbs::provider::open_software();
  if (!opened) {
    verbs::log(verbs::LogLevel::kWarn, opened.error().message);
    return nullptr;
  }
  now.keep = std::move(*opened);
  now.keep->on_async_event(&route_async_event);
  now.in_use.store(now.keep.get());
  return now.keep;
}

bool shows_as_ib() {
  const char* as = std::getenv("IWARP_DEVICE_AS");
  return as != nullptr && std::string_view(as) == "ib";
}

namespace {

// All of `text` as a number; none if it is not one.
std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// What the environment says, up to `longest`; `usual` if it says nothing or no such number.
std::chrono::milliseconds chosen_time(const char* name, std::chrono::milliseconds longest,
                                      std::chrono::milliseconds usual) {
  const char* const chosen = std::getenv(name);
  if (chosen == nullptr) return usual;
  const std::string_view text(chosen);
  const auto time = number_in(text);
  if (time && *time <= longest.count()) return std::chrono::milliseconds(*time);
  verbs::log(verbs::LogLevel::kWarn, std::string(name) + "=" + std::string(text) +
                                         " is not a number of milliseconds up to " +
                                         std::to_string(longest.count()) + ": it is " +
                                         std::to_string(usual.count()));
  return usual;
}

bool chosen_switch(const char* name, bool usual) {
  const char* const chosen = std::getenv(name);
  if (chosen == nullptr) return usual;
  const std::string_view text(chosen);
  if (text == "1" || text == "0") return text == "1";
  verbs::log(verbs::LogLevel::kWarn, std::string(name) + "=" + std::string(text) +
                                         " is neither 0 nor 1: it is " + (usual ? "1" : "0"));
  return usual;
}

verbs::Liveness chosen_liveness() {
  constexpr const char* kName = "IWARP_PEER_TIMEOUT";
  constexpr std::chrono::hours kLongest{24};
  verbs::Liveness chosen;
  if (std::getenv(kName) == nullptr) return chosen;
  chosen.unacknowledged = chosen_time(kName, kLongest, verbs::kDefaultUnacknowledged);
  chosen.keep_alive = *chosen.unacknowledged / 2;
  return chosen;
}

verbs::SourceBuffers chosen_source_buffers() {
  const char* const chosen = std::getenv("IWARP_SOURCE_BUFFERS");
  if (chosen == nullptr) return verbs::SourceBuffers::kMayChange;
  const std::string_view text(chosen);
  if (text == "stable") return verbs::SourceBuffers::kStable;
  verbs::log(verbs::LogLevel::kWarn, "IWARP_SOURCE_BUFFERS=" + std::string(text) +
                                         " is not known, only \"stable\": they may change");
  return verbs::SourceBuffers::kMayChange;
}

std::uint32_t chosen_max_fpdu() {
  const char* const chosen = std::getenv("IWARP_MAX_FPDU");
  if (chosen == nullptr) return 0;
  const auto octets = number_in(chosen);
  if (octets && verbs::is_max_fpdu(*octets)) return *octets;
  verbs::log(verbs::LogLevel::kWarn, "IWARP_MAX_FPDU=" + std::string(chosen) +
                                         " is neither 0 nor a number of octets from " +
                                         std::to_string(verbs::kLeastMaxFpdu) + " to " +
                                         std::to_string(verbs::kGreatestMaxFpdu) +
                                         ": FPDUs fit a segment");
  return 0;
}

}  // namespace

bool tells_timewait_exit() {
  static const bool tells = chosen_switch("IWARP_TIMEWAIT_EXIT", shows_as_ib());
  return tells;
}

std::chrono::milliseconds receive_wait() {
  constexpr std::chrono::seconds kLongest{1};
  static const auto wait = chosen_time("IWARP_RECEIVE_WAIT", kLongest, kLongest);
  return wait;
}

std::chrono::milliseconds linger_time() {
  constexpr std::chrono::hours kLongest{1};
  static const auto time = chosen_time("IWARP_LINGER", kLongest, verbs::kDefaultLinger);
  return time;
}

verbs::Liveness liveness() {
  static const verbs::Liveness chosen = chosen_liveness();
  return chosen;
}

verbs::SourceBuffers source_buffers() {
  static const verbs::SourceBuffers buffers = chosen_source_buffers();
  return buffers;
}

std::uint32_t max_fpdu() {
  static const std::uint32_t octets = chosen_max_fpdu();
  return octets;
}

}  // namespace iwarp::compat
