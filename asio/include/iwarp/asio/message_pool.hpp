#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

namespace detail {
class pool_core;
class message_slot;
}  // namespace detail

/// A message that the peer has sent: its octets, in a buffer of a message_pool that goes back, and
/// is posted anew, when this is destroyed. Empty if moved from. It keeps what it needs alive.
class IWARP_API message {
 public:
  message() = default;  ///< Empty.
  ~message();
  message(message&&) noexcept;
  message& operator=(message&&) noexcept;

  /// Whether it is not empty.
  explicit operator bool() const { return slot_ != nullptr; }
  /// The first octet of what was sent.
  [[nodiscard]] const std::byte* data() const;
  /// Octets that were sent; of a Write with immediate and of Immediate Data none.
  [[nodiscard]] std::size_t size() const;
  /// All of them.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data(), size()}; }
  /// The same octets as characters.
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data()), size()};
  }
  /// The same range for Asio's own functions, such as buffer_copy().
  explicit operator boost::asio::const_buffer() const { return {data(), size()}; }
  /// The registered memory of the same octets, to be sent on without a copy.
  [[nodiscard]] local_buffer buffer() const;
  /// RFC 7306 §6: what came instead of octets.
  [[nodiscard]] std::optional<std::uint64_t> immediate() const;
  /// With immediate(): the length of the Write right before it.
  [[nodiscard]] std::size_t written() const;
  /// The STag of this side that the peer has ended by a Send with Invalidate.
  [[nodiscard]] std::optional<Stag> invalidated() const;

 private:
  friend class detail::pool_core;
  friend class detail::message_slot;
  message(std::shared_ptr<detail::pool_core> pool, detail::message_slot* slot);

  std::shared_ptr<detail::pool_core> pool_;
  detail::message_slot* slot_ = nullptr;
};

/// What a message_pool is made with.
struct message_pool_options {
  std::uint32_t count = 1024;         ///< Buffers, all posted at once.
  std::uint32_t message_size = 4096;  ///< Octets of each: the longest message that may come.
  /// The most buffers that one connection may have at once (RFC 5042 §6.4.3.1); 0: all of them. It
  /// has a buffer from the first segment of the message on, while the message is under way, waits
  /// for async_receive() or is kept by the program, until the `message` is destroyed: its own
  /// messages count for it, and no others. The peer of a connection that has as many, and sends one
  /// more, has its connection ended. Once the connection is gone, messages of it that are kept
  /// count for none. Not on every adapter: DeviceAttributes::srq_share.
  std::uint32_t share = 0;
};

/// Receives for many connections, posted ahead of what comes (a shared receive queue with its
/// buffers): iWARP ends a connection whose Send finds no receive (RFC 5041 §7.1). Programs agree by
/// their protocol on how many messages a peer may have under way; that many buffers there are to
/// be.
class IWARP_API message_pool {
 public:
  /// Throws boost::system::system_error.
  explicit message_pool(domain& in, const message_pool_options& options = {});
  ~message_pool();
  message_pool(message_pool&&) noexcept;
  message_pool& operator=(message_pool&&) noexcept;

  /// Buffers that wait for a message now.
  [[nodiscard]] std::size_t available() const;

 private:
  friend class connection;
  friend class acceptor;
  std::shared_ptr<detail::pool_core> core_;
};

}  // namespace iwarp::asio
