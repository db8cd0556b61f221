#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/types.hpp"

namespace iwarp::asio {

/// Registered memory of this side, as an operation takes it: a range and the key that opens it. A
/// value: the caller keeps the memory registered until the operation has ended.
class local_buffer {
 public:
  local_buffer() = default;  ///< Empty.
  /// `size` octets of the memory that `lkey` opens.
  local_buffer(void* data, std::size_t size, Stag lkey) : data_(data), size_(size), lkey_(lkey) {}

  /// The first octet.
  [[nodiscard]] void* data() const { return data_; }
  /// Octets.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The key of the registration.
  [[nodiscard]] Stag lkey() const { return lkey_; }
  /// At most `size` octets from `offset` on; cut at the end, as boost::asio::buffer() does.
  [[nodiscard]] local_buffer part(std::size_t offset, std::size_t size = SIZE_MAX) const {
    const std::size_t from = offset < size_ ? offset : size_;
    const std::size_t left = size_ - from;
    return {static_cast<std::byte*>(data_) + from, size < left ? size : left, lkey_};
  }
  /// The same range for Asio's own functions, such as buffer_copy().
  operator boost::asio::mutable_buffer() const { return {data_, size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Stag lkey_{};
};

/// What is gathered into one message, or scattered from one: up to kMax elements, in order.
class buffer_list {
 public:
  static constexpr std::size_t kMax = 8;  ///< Elements at most.

  buffer_list() = default;  ///< Without elements: an empty message.
  /// One: a local_buffer, or what has one, such as registered_memory.
  template <std::convertible_to<local_buffer> One>
  buffer_list(const One& one) : size_(1) {
    buffers_[0] = one;
  }
  /// These, in order.
  buffer_list(std::initializer_list<local_buffer> buffers)
      : buffer_list(std::span(buffers.begin(), buffers.size())) {}
  /// More elements than kMax make the operation fail (errc::too_many_buffers).
  explicit buffer_list(std::span<const local_buffer> buffers) : size_(buffers.size()) {
    for (std::size_t i = 0; i < size_ && i < kMax; ++i) buffers_[i] = buffers[i];
  }

  /// Elements, perhaps more than kMax.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// An element. Precondition: i < size() and i < kMax.
  [[nodiscard]] const local_buffer& operator[](std::size_t i) const { return buffers_[i]; }

 private:
  std::array<local_buffer, kMax> buffers_;
  std::size_t size_ = 0;
};

/// Memory of the peer, as its program has told by a protocol of its own: STag, Tagged Offset and
/// length. A value.
struct IWARP_API remote_buffer {
  /// Octets that to_bytes() makes: Tagged Offset (8), STag (4), length (8), in network order.
  static constexpr std::size_t wire_size = 20;

  Stag stag{};               ///< Opens the memory.
  std::uint64_t offset = 0;  ///< Tagged Offset of the first octet.
  std::uint64_t length = 0;  ///< Octets.

  /// At most `size` octets from `begin` on; cut at the end.
  [[nodiscard]] remote_buffer part(std::uint64_t begin, std::uint64_t size = UINT64_MAX) const {
    const std::uint64_t from = begin < length ? begin : length;
    const std::uint64_t left = length - from;
    return {stag, offset + from, size < left ? size : left};
  }
  /// The buffer as programs may tell it to each other.
  [[nodiscard]] std::array<std::byte, wire_size> to_bytes() const;
  /// What to_bytes() made, on either side. Any octets make some buffer: whether the peer knows it
  /// shows when it is used.
  static remote_buffer from_bytes(std::span<const std::byte, wire_size> bytes);

  friend bool operator==(const remote_buffer&, const remote_buffer&) = default;
};

}  // namespace iwarp::asio
