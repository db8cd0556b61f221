#pragma once

#include <cstddef>
#include <memory>

#include "iwarp/base/bytes.hpp"

namespace iwarp::connection {

/// Octets of a stream that came and were not taken: in most cases the beginning of one FPDU. Takes
/// no more memory than they need, as many connections keep some at a time. Not thread-safe.
class KeptOctets {
 public:
  /// Keeps `first` and `second` behind it, in place of what was kept; they may be part of that.
  void assign(ConstBytes first, ConstBytes second = {});
  /// Drops the first `count`; never throws. Precondition: so many are kept.
  void drop_front(std::size_t count);
  /// What is kept; may be changed in place.
  [[nodiscard]] MutableBytes octets() const { return {octets_.get() + from_, size_}; }
  /// How many they are.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Keeps nothing.
  void clear() { assign({}); }

 private:
  std::unique_ptr<std::byte[]> octets_;
  std::size_t from_ = 0;  // those before it have been dropped
  std::size_t size_ = 0;
};

}  // namespace iwarp::connection
