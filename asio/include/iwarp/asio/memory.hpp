#pragma once

#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

/// What may be done with registered memory, local_write and remote_read and so on.
using access = verbs::Access;

/// A registration of memory that the caller owns and keeps allocated. Destroying it
/// ends the registration, at once: what is being placed is waited for, operations that still name
/// the memory fail, and no peer reaches it any more. Not to be used from two threads at once.
class IWARP_API registered_memory {
 public:
  /// Throws boost::system::system_error: EINVAL for rights that exclude each other, or no memory.
  registered_memory(domain& in, boost::asio::mutable_buffer memory, access rights);
  ~registered_memory();
  registered_memory(registered_memory&&) noexcept;
  registered_memory& operator=(registered_memory&&) noexcept;

  /// The first octet.
  [[nodiscard]] std::byte* data() const;
  /// Octets.
  [[nodiscard]] std::size_t size() const;
  /// At most `size` octets from `offset` on, cut at the end: for operations of this side.
  [[nodiscard]] local_buffer part(std::size_t offset, std::size_t size = SIZE_MAX) const {
    return local_buffer(*this).part(offset, size);
  }
  /// All of it, for operations of this side.
  operator local_buffer() const;
  /// The same range as the peer names it. `rights` had to allow it what it is to do.
  [[nodiscard]] remote_buffer remote(std::size_t offset = 0, std::size_t size = SIZE_MAX) const;

 private:
  class registration;
  std::unique_ptr<registration> registration_;
};

namespace detail {

/// Zeroed memory, aligned to a page.
class IWARP_API page_memory {
 public:
  explicit page_memory(std::size_t size);
  ~page_memory();
  page_memory(page_memory&& other) noexcept;
  page_memory& operator=(page_memory&& other) noexcept;

  [[nodiscard]] std::byte* memory() const { return data_; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size_;
  std::byte* data_;
};

}  // namespace detail

/// Registered memory of its own, zeroed and aligned to a page. It outlives what is under way: the
/// end of the registration comes before that of the memory.
class IWARP_API registered_buffer : private detail::page_memory, public registered_memory {
 public:
  /// `size` octets. Throws boost::system::system_error, std::bad_alloc.
  explicit registered_buffer(domain& in, std::size_t size, access rights = access::kLocalWrite);
  // The registration that is replaced ends before its memory does.
  registered_buffer(registered_buffer&&) noexcept = default;
  /// Takes the memory over; what was here before ends.
  registered_buffer& operator=(registered_buffer&& other) noexcept {
    registered_memory::operator=(std::move(other));
    // NOLINTNEXTLINE(bugprone-use-after-move): each takes its own base
    page_memory::operator=(std::move(other));
    return *this;
  }
};

}  // namespace iwarp::asio
