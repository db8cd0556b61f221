#include "iwarp/mpa/startup_reader.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace iwarp::mpa {
namespace {

constexpr std::size_t kNever = kMaxStartupFrameSize + 1;

}  // namespace

Result<std::size_t, Error> StartupReader::feed(ConstBytes bytes) {
  std::size_t taken = 0;
  while (!complete() && taken < bytes.size()) {
    const std::size_t size = std::min(needed_ - size_, bytes.size() - taken);
    std::memcpy(bytes_.data() + size_, bytes.data() + taken, size);
    size_ += size;
    taken += size;
    const auto needed = startup_frame_size({bytes_.data(), size_}, expected_);
    if (!needed) {
      needed_ = kNever;
      return failure(needed.error());
    }
    needed_ = *needed;
  }
  return taken;
}

StartupFrameView StartupReader::frame() const {
  assert(complete());
  return StartupFrameView::parse({bytes_.data(), size_}, expected_).value();
}

}  // namespace iwarp::mpa
