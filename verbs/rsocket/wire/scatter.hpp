#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

#include "iwarp/base/bytes.hpp"

namespace iwarp::rsocket {

/// A walk through the memory of a scatter/gather list.
class Scatter {
 public:
  explicit Scatter(std::span<const iovec> list);

  /// Octets that are left.
  [[nodiscard]] std::size_t left() const { return left_; }
  /// Octets that were passed.
  [[nodiscard]] std::size_t passed() const { return total_ - left_; }
  /// Copies from the list's memory. Precondition: to.size() <= left().
  void copy_to(MutableBytes to);
  /// Copies into the list's memory. Precondition: from.size() <= left().
  void copy_from(ConstBytes from);

 private:
  MutableBytes next(std::size_t most);

  std::span<const iovec> list_;
  std::size_t offset_ = 0;  // in list_.front()
  std::size_t total_ = 0, left_ = 0;
};

}  // namespace iwarp::rsocket
