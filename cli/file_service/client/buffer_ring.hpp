#pragma once

#include <cstdint>

#include "file_service/wire/page_buffer.hpp"

namespace iwarp::cli::file_service {

/// Equal chunk buffers that are taken and given back in the same order. Not thread-safe.
class BufferRing {
 public:
  BufferRing(std::size_t count, std::size_t chunk)
      : memory_(count * chunk), count_(count), chunk_(chunk) {}

  [[nodiscard]] bool available() const { return taken_ - released_ < count_; }
  /// The next buffer. Precondition: available().
  MutableBytes take() { return memory_.bytes().subspan((taken_++ % count_) * chunk_, chunk_); }
  /// Gives the buffer back that was taken first.
  void release() { ++released_; }
  /// How many of the buffers taken so far must no longer be in use before the next take().
  [[nodiscard]] std::uint64_t must_be_done() const {
    return taken_ < count_ ? 0 : taken_ - count_ + 1;
  }

 private:
  PageBuffer memory_;
  std::size_t count_;
  std::size_t chunk_;
  std::uint64_t taken_ = 0;
  std::uint64_t released_ = 0;
};

}  // namespace iwarp::cli::file_service
