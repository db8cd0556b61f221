#include "file_service/server/transfer_buffers.hpp"

#include <algorithm>

#include "context.hpp"
#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {

TransferBuffers::TransferBuffers(Link& link, BufferBudget& budget, Standing standing,
                                 std::uint64_t size)
    : link_(link),
      lease_(budget, standing, [&link] { link.wake(); }),
      most_(buffers_for(size)),
      size_(static_cast<std::size_t>(std::clamp<std::uint64_t>(size, 1, kMaxChunk))) {}

TransferBuffers::Taken TransferBuffers::take(std::uint64_t length) {
  if (free_.empty()) free_.push_back(make());
  taken_.push_back(std::move(free_.front()));
  free_.pop_front();
  Buffer& buffer = taken_.back();
  buffer.use = ++uses_;
  return {buffer.memory.bytes().first(length), buffer.region.lkey()};
}

TransferBuffers::Buffer TransferBuffers::make() {
  PageBuffer memory(size_);
  auto region = require(link_.domain().register_memory(memory.bytes(), link_.domain().read_sink()),
                        "cannot register a buffer");
  return {std::move(memory), std::move(region)};
}

void TransferBuffers::release() {
  free_.push_back(std::move(taken_.front()));
  taken_.pop_front();
  if (lease_.count() < most_) lease_.grow();
}

}  // namespace iwarp::cli::file_service
