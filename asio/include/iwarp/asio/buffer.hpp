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

namespace detail {
inline boost::asio::mutable_buffer to_mutable_buffer(std::span<std::byte> octets) {
  return {octets.data(), octets.size()};
}
inline boost::asio::const_buffer to_const_buffer(std::span<const std::byte> octets) {
  return {octets.data(), octets.size()};
}
}  // namespace detail

/// Registered memory of this side, as an operation takes it: a range and the key that opens it. A
/// value: the caller keeps the memory registered until the operation has ended.
class local_buffer {
 public:
  local_buffer() = default;  ///< Empty.
  /// `size` octets of the memory that `lkey` opens.
  local_buffer(void* data, std::size_t size, Stag lkey)
      : data_(static_cast<std::byte*>(data)), size_(size), lkey_(lkey) {}

  /// The first octet.
  [[nodiscard]] std::byte* data() const { return data_; }
  /// Octets.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// All of them.
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  /// The key of the registration.
  [[nodiscard]] Stag lkey() const { return lkey_; }
  /// At most `size` octets from `offset` on; cut at the end, as boost::asio::buffer() does.
  [[nodiscard]] local_buffer part(std::size_t offset, std::size_t size = SIZE_MAX) const {
    const std::size_t from = offset < size_ ? offset : size_;
    const std::size_t left = size_ - from;
    return {data_ + from, size < left ? size : left, lkey_};
  }
  /// The same range for Asio's own functions, such as buffer_copy().
  operator boost::asio::mutable_buffer() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Stag lkey_{};
};

/// The same to be read only: what a Send or a Write takes its data from.
class const_local_buffer {
 public:
  const_local_buffer() = default;  ///< Empty.
  /// `size` octets of the memory that `lkey` opens.
  const_local_buffer(const void* data, std::size_t size, Stag lkey)
      : data_(static_cast<const std::byte*>(data)), size_(size), lkey_(lkey) {}
  /// What may be written to may be read: a local_buffer, or what has one, such as
  /// registered_memory.
  template <std::convertible_to<local_buffer> Writable>
  const_local_buffer(const Writable& from) {
    const local_buffer all = from;
    *this = {all.data(), all.size(), all.lkey()};
  }

  /// The first octet.
  [[nodiscard]] const std::byte* data() const { return data_; }
  /// Octets.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// All of them.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// The key of the registration.
  [[nodiscard]] Stag lkey() const { return lkey_; }
  /// At most `size` octets from `offset` on; cut at the end, as boost::asio::buffer() does.
  [[nodiscard]] const_local_buffer part(std::size_t offset, std::size_t size = SIZE_MAX) const {
    const std::size_t from = offset < size_ ? offset : size_;
    const std::size_t left = size_ - from;
    return {data_ + from, size < left ? size : left, lkey_};
  }
  /// The same range for Asio's own functions. To be asked for: to send it so would copy it.
  explicit operator boost::asio::const_buffer() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Stag lkey_{};
};

/// Elements of one message, in order, up to kMax: see buffer_list and const_buffer_list.
template <typename Buffer>
class basic_buffer_list {
 public:
  static constexpr std::size_t kMax = 8;  ///< Elements at most.

  basic_buffer_list() = default;  ///< Without elements: an empty message.
  /// One: a buffer, or what has one, such as registered_memory.
  template <std::convertible_to<Buffer> One>
  basic_buffer_list(const One& one) : size_(1) {
    buffers_[0] = one;
  }
  /// These, in order.
  basic_buffer_list(std::initializer_list<Buffer> buffers)
      : basic_buffer_list(std::span(buffers.begin(), buffers.size())) {}
  /// More elements than kMax make the operation fail (errc::too_many_buffers).
  explicit basic_buffer_list(std::span<const Buffer> buffers) : size_(buffers.size()) {
    for (std::size_t i = 0; i < size_ && i < kMax; ++i) buffers_[i] = buffers[i];
  }
  /// The elements of a list of memory that may be written to, to be read.
  template <typename Writable>
    requires(!std::same_as<Writable, Buffer> && std::convertible_to<Writable, Buffer>)
  basic_buffer_list(const basic_buffer_list<Writable>& from) : size_(from.size()) {
    for (std::size_t i = 0; i < size_ && i < kMax; ++i) buffers_[i] = from[i];
  }

  /// Elements, perhaps more than kMax.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// An element. Precondition: i < size() and i < kMax.
  [[nodiscard]] const Buffer& operator[](std::size_t i) const { return buffers_[i]; }

 private:
  std::array<Buffer, kMax> buffers_;
  std::size_t size_ = 0;
};

/// What one message is scattered into, or a Read: memory that is written to.
using buffer_list = basic_buffer_list<local_buffer>;
/// What one message is gathered from, or a Write: memory that is only read. A buffer_list is one,
/// too.
using const_buffer_list = basic_buffer_list<const_local_buffer>;

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
