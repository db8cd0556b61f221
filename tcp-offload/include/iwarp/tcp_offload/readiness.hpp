#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

namespace iwarp::tcp_offload {

/// What to wait for on a descriptor.
struct Interest {
  bool read = false;   ///< Something to read, the end, or an error.
  bool write = false;  ///< Room to write, or an error.
};

/// When a descriptor that was reported is reported again.
enum class Repeat {
  kOnce,   ///< Not before it is modified.
  kLevel,  ///< As long as it is ready.
  kEdge,   ///< When more comes, the end, or an error; and when it is modified, if it is ready.
};

/// A descriptor that became ready, by the token it was added with.
struct Ready {
  std::uint64_t token = 0;  ///< As it was added with.
  bool read = false;        ///< Readable, ended or in error.
  bool write = false;       ///< Writable or in error.
  bool ended = false;       ///< There is an end behind what is to be read, or an error.
  /// With Repeat::kEdge: there is urgent data (RFC 9293 §3.8.5). A read stops in front of it, with
  /// more behind it; the next one goes on. It may be told again and again until it has come whole.
  bool urgent = false;
};

/// Whether there is something to read at a descriptor now, an end, or an error. Any thread.
[[nodiscard]] bool is_readable(int descriptor);

/// A set of descriptors to wait on (epoll). add(), modify() and remove() may be called from any
/// thread, also while another waits.
class ReadinessSet {
 public:
  /// Makes an empty set.
  explicit ReadinessSet(Repeat repeat);
  ~ReadinessSet();
  ReadinessSet(const ReadinessSet&) = delete;
  ReadinessSet& operator=(const ReadinessSet&) = delete;

  /// Readable while one of its descriptors is ready; stays this object's.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Errors: the system's, such as ENOSPC (epoll's limit of descriptors for a user) and ENOMEM.
  [[nodiscard]] std::error_code add(int descriptor, std::uint64_t token, Interest interest);
  /// A descriptor that is reported as it says itself, not as the others of the set.
  [[nodiscard]] std::error_code add(int descriptor, std::uint64_t token, Interest interest,
                                    Repeat repeat);
  /// With Repeat::kOnce also arms the descriptor again. After an error the descriptor is watched as
  /// before: at rest if it was.
  std::error_code modify(int descriptor, std::uint64_t token, Interest interest);
  /// The same, and it is reported from now on as `repeat` says.
  std::error_code modify(int descriptor, std::uint64_t token, Interest interest, Repeat repeat);
  /// Takes a descriptor out, before it is closed.
  void remove(int descriptor);

  /// Waits for at least one; without `timeout` for ever, with 0 not at all. Fills `into` from the
  /// front and returns how many; 0 after the time-out or a signal.
  std::size_t wait(std::span<Ready> into, std::optional<std::chrono::milliseconds> timeout);

 private:
  Repeat repeat_;
  int descriptor_;
};

/// A count that makes a descriptor readable while it is not zero (eventfd). Thread-safe.
class EventCount {
 public:
  EventCount();
  ~EventCount();
  EventCount(const EventCount&) = delete;
  EventCount& operator=(const EventCount&) = delete;

  /// Readable while the count is not zero; stays this object's.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Adds one, or as many as `count`.
  void raise(std::uint64_t count = 1);
  /// Takes one off; false if there is none.
  bool take();
  /// Takes all off.
  void clear();

 private:
  int descriptor_;
};

}  // namespace iwarp::tcp_offload
