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
  void end() {
    if (any_.load()) any_.store(false);
  }
  [[nodiscard]] bool any() const { return any_.load(); }

  /// One more post, of so many octets. Whether it may wait for company: the first since the last
  /// poll leaves at once, and so does each that is one too many.
  bool has_company(std::size_t octets) {
    const std::uint64_t since = since_poll_.fetch_add(kPost + octets, std::memory_order_relaxed);
    const std::uint64_t posts = since / kPost;
    const std::uint64_t before = since % kPost;
    return posts % kMostPosts != 0 && before / kMostOctets == (before + octets) / kMostOctets;
  }
  /// A poll has come.
  void restart() { since_poll_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kMostPosts = 64;
  static constexpr std::uint64_t kMostOctets = std::uint64_t{1024} * 1024;
  // What one post adds, beside its octets, which are the lower part.
  static constexpr std::uint64_t kPost = std::uint64_t{1} << 48U;

  std::atomic<bool> any_{false};
  std::atomic<std::uint64_t> since_poll_{0};  // posts, in units of kPost, and their octets
};

}  // namespace iwarp::verbs::soft
