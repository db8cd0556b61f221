#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/guarded_access.hpp"

namespace iwarp {

/// The bytes of one gathering write, in order: small things copied into an arena, large ones
/// referenced where they are. Arena bytes that follow each other share one iovec. Its room is
/// allocated once; nothing allocates afterwards. Not thread-safe: one per driving thread.
class GatherList {
 public:
  /// `arena_size` bytes for copies, at most `max_pieces` iovecs.
  GatherList(std::size_t arena_size, std::size_t max_pieces);

  /// Forgets everything; the room is reused.
  void clear();

  /// Room for `size` contiguous bytes, which the caller fills at once and which are the next bytes
  /// of the stream. Precondition: has_room(size, 1).
  std::byte* append(std::size_t size) {
    std::byte* const at = arena_.get() + arena_used_;
    arena_used_ += size;
    size_ += size;
    if (!pieces_.empty()) {
      iovec& last = pieces_.back();
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == at) {
        last.iov_len += size;
        return at;
      }
    }
    pieces_.push_back({at, size});
    return at;
  }
  /// Copies `bytes` behind what is there. Precondition: has_room(bytes.size(), 1).
  void copy(ConstBytes bytes);
  /// Refers to `bytes` where they are; they stay valid until the write has been done.
  /// Precondition: has_room(0, 1).
  void reference(ConstBytes bytes);

  /// Whether `arena` bytes in `pieces` more iovecs still fit.
  [[nodiscard]] bool has_room(std::size_t arena, std::size_t pieces) const {
    return arena_used_ + arena <= arena_size_ && pieces_.size() + pieces <= max_pieces_;
  }
  /// Octets of the whole list.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Octets of the arena that are taken.
  [[nodiscard]] std::size_t arena_used() const { return arena_used_; }
  /// The list as writev(2) takes it; valid until it is changed.
  [[nodiscard]] std::span<const iovec> pieces() const { return pieces_; }

  /// Copies the bytes [from, from + to.size()) of the stream into `to`. Returns where memory that
  /// is referenced was missing, if any was.
  MemoryFault extract(std::size_t from, MutableBytes to) const;

  /// A position to come back to: what was appended after mark() is forgotten by rewind().
  struct Mark {
    std::size_t pieces;       ///< How many there were.
    std::size_t last_length;  ///< Octets of the last one.
    std::size_t arena_used;   ///< Octets of the arena that were taken.
    std::size_t size;         ///< Octets of the whole list.
  };
  /// The position behind all that was appended.
  [[nodiscard]] Mark mark() const {
    return {pieces_.size(), pieces_.empty() ? 0 : pieces_.back().iov_len, arena_used_, size_};
  }
  /// Goes back to a position. Precondition: no clear() since.
  void rewind(const Mark& mark);

 private:
  std::unique_ptr<std::byte[]> arena_;
  std::size_t arena_size_;
  std::size_t arena_used_ = 0;
  std::size_t max_pieces_;
  std::size_t size_ = 0;
  std::vector<iovec> pieces_;
};

}  // namespace iwarp
