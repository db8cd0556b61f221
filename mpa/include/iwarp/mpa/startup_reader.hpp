#pragma once

#include <array>
#include <cstddef>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/result.hpp"
#include "iwarp/mpa/error.hpp"
#include "iwarp/mpa/startup_frame.hpp"

namespace iwarp::mpa {

/// Collects one start-up frame from a byte stream that arrives in any pieces.
class StartupReader {
 public:
  /// Reads a frame of this kind; another one is an error.
  explicit StartupReader(FrameKind expected) : expected_(expected) {}

  /// Takes what belongs to the frame from the front of `bytes` and returns how many octets that
  /// is: never any behind the frame. Errors: those of startup_frame_size(), at the first octet that
  /// shows them; afterwards nothing more may be fed, and the frame is never complete.
  Result<std::size_t, Error> feed(ConstBytes bytes);

  /// Whether the frame is whole.
  [[nodiscard]] bool complete() const { return size_ == needed_; }
  /// Octets taken so far.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The frame. Precondition: complete(). Valid as long as this object stays where it is.
  [[nodiscard]] StartupFrameView frame() const;

 private:
  FrameKind expected_;
  std::size_t size_ = 0;
  std::size_t needed_ = kStartupHeaderSize;
  std::array<std::byte, kMaxStartupFrameSize> bytes_{};
};

}  // namespace iwarp::mpa
