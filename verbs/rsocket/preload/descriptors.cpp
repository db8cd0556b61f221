#include "descriptors.hpp"

#include <rdma/rsocket.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "next.hpp"

namespace iwarp::rspreload {

namespace {

constexpr int kMost = 65536;

// The rsocket's number plus one, or zero. Zero before any constructor has run: other libraries'
// constructors may call.
std::array<std::atomic<int>, kMost> meanings;
// How many descriptors mean this rsocket.
std::array<std::atomic<int>, kMost> counts;

bool in_range(int fd) { return fd >= 0 && fd < kMost; }

}  // namespace

int rsocket_of(int fd) {
  return in_range(fd) ? meanings[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed) - 1
                      : -1;
}

int note(int rsocket) {
  if (!in_range(rsocket)) {
    rclose(rsocket);
    errno = EMFILE;
    return -1;
  }
  const auto index = static_cast<std::size_t>(rsocket);
  counts[index] = 1;
  meanings[index] = rsocket + 1;
  return rsocket;
}

int note_duplicate(int fd, int rsocket) {
  if (!in_range(fd)) {
    NEXT(close)(fd);
    errno = EMFILE;
    return -1;
  }
  ++counts[static_cast<std::size_t>(rsocket)];
  meanings[static_cast<std::size_t>(fd)] = rsocket + 1;
  return fd;
}

bool is_needed_by_others(int fd) {
  return in_range(fd) && counts[static_cast<std::size_t>(fd)] > (rsocket_of(fd) == fd ? 1 : 0);
}

int close_noted(int fd, int rsocket) {
  meanings[static_cast<std::size_t>(fd)] = 0;
  // The rsocket's own descriptor stays until the last that means it is closed.
  if (fd != rsocket) NEXT(close)(fd);
  if (--counts[static_cast<std::size_t>(rsocket)] > 0) return 0;
  if (rclose(rsocket) == 0) return 0;
  // Of the parent; here it is a mere descriptor.
  return errno == EBADF && fd == rsocket ? NEXT(close)(fd) : -1;
}

}  // namespace iwarp::rspreload
