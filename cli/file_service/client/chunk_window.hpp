#pragma once

#include <deque>
#include <string>

#include "context.hpp"
#include "file_service/client/buffer_ring.hpp"
#include "file_service/client/client.hpp"
#include "file_service/files/stream_hasher.hpp"

namespace iwarp::cli::file_service {

/// The client's chunks under way, oldest first. Each is registered by itself: the server's answer
/// invalidates it where the device has that, and its registration ends here in any case before the
/// memory is used again.
class ChunkWindow {
 public:
  /// Room for a transfer of `size` octets.
  ChunkWindow(Client& client, std::uint64_t size)
      : client_(client),
        ring_(std::min(client.window(), buffers_for(size)), client.chunk()),
        chunk_(client.chunk()) {}

  /// Whether another chunk may be taken.
  [[nodiscard]] bool has_room() const { return ring_.available(); }
  [[nodiscard]] bool empty() const { return chunks_.empty(); }

  /// Memory for the next `length` octets, once `hasher` has seen what was in it.
  MutableBytes take(StreamHasher& hasher, std::uint64_t length) {
    hasher.wait_for(ring_.must_be_done());
    return ring_.take().first(std::min<std::uint64_t>(length, chunk_));
  }

  /// Offers a chunk to the server and sends the request for it.
  void offer(MutableBytes bytes, std::uint64_t position, Operation operation,
             verbs::Access access) {
    auto region = require(client_.domain().register_memory(bytes, access | client_.invalidated()),
                          "cannot register a chunk");
    const verbs::RemoteBuffer buffer = region.remote();
    chunks_.push_back({std::move(region), bytes, position});
    client_.send({.operation = operation, .buffer = buffer, .position = position});
  }

  /// A chunk whose answer has come. Its memory stays until release().
  struct Done {
    MutableBytes bytes;
    std::uint64_t position;
  };
  Done wait_oldest(const std::string& subject) {
    const Answer answer = client_.receive(subject);
    const Done done{chunks_.front().bytes, chunks_.front().position};
    chunks_.pop_front();
    if (answer.length != done.bytes.size()) {
      throw CommandError(subject + ": the server moved another number of octets than it was asked");
    }
    return done;
  }
  void release() { ring_.release(); }

 private:
  struct Chunk {
    verbs::MemoryRegion region;
    MutableBytes bytes;
    std::uint64_t position;
  };

  Client& client_;
  BufferRing ring_;
  std::uint32_t chunk_;
  std::deque<Chunk> chunks_;
};

}  // namespace iwarp::cli::file_service
