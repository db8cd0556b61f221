#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace iwarp::verbs::soft {

/// Posts that are left for a poller to send, so that many of them make one system call. Any thread.
class Deferral {
 public:
  /// Something has been posted that is not sent yet.
  void begin() { any_.store(true); }
  /// Everything that was posted before this is about to be sent.
  void end() { any_.store(false); }
  [[nodiscard]] bool any() const { return any_.load(); }

  /// One more post, of so many octets. Whether it may wait for company: the first since the last
  /// poll leaves at once, and so does each that is one too many.
  bool has_company(std::size_t octets) {
    const std::uint32_t posts = posts_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t before = octets_.fetch_add(octets, std::memory_order_relaxed);
    return posts % kMostPosts != 0 && before / kMostOctets == (before + octets) / kMostOctets;
  }
  /// A poll has come.
  void restart() {
    posts_.store(0, std::memory_order_relaxed);
    octets_.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t kMostPosts = 64;
  static constexpr std::size_t kMostOctets = std::size_t{1024} * 1024;

  std::atomic<bool> any_{false};
  std::atomic<std::uint32_t> posts_{0};  // since the last poll, as the next
  std::atomic<std::size_t> octets_{0};
};

}  // namespace iwarp::verbs::soft
