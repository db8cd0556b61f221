#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "file_service/wire/protocol.hpp"

namespace iwarp::cli::file_service {

/// The digest of a stream, computed on a thread of its own while the next chunks are on their way.
/// One thread submits; with HashKind::kNone every call returns at once.
class StreamHasher {
 public:
  explicit StreamHasher(HashKind kind);
  ~StreamHasher();
  StreamHasher(const StreamHasher&) = delete;
  StreamHasher& operator=(const StreamHasher&) = delete;

  /// Adds the next octets of the stream, which stay as they are until wait_for() says so.
  void submit(ConstBytes bytes);
  /// Returns when the first `submissions` submissions have been hashed. Precondition: so many were
  /// made.
  void wait_for(std::uint64_t submissions);
  /// The digest of everything submitted; none with kNone. Call once, last.
  std::optional<Digest> finish();

  [[nodiscard]] HashKind kind() const { return kind_; }

 private:
  struct Context;
  void work(const std::stop_token& stop);

  HashKind kind_;
  std::unique_ptr<Context> context_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<ConstBytes> waiting_;
  std::uint64_t submitted_ = 0;
  std::uint64_t hashed_ = 0;
  std::jthread worker_;
};

/// Lower-case hexadecimal digits.
std::string to_hex(const Digest& digest);

}  // namespace iwarp::cli::file_service
