#pragma once

#include <boost/asio/buffer.hpp>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <utility>

#include "iwarp/asio/buffer.hpp"
#include "iwarp/asio/device.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

/// What may be done with registered memory: access_rights::kLocalWrite, kRemoteRead and so on. A
/// set, of which `a | b` is the union.
using access_rights = verbs::Access;
/// What may be done with memory that is only read, likewise.
using source_rights = verbs::SourceAccess;

/// A registration of memory that the caller owns and keeps allocated. Destroying it
/// ends the registration, at once: what is being placed is waited for, operations that still name
/// the memory fail, and no peer reaches it any more. Not to be used from two threads at once.
class IWARP_API registered_memory {
 public:
  /// Throws boost::system::system_error: EINVAL for rights that exclude each other, or no memory.
  registered_memory(domain& in, boost::asio::mutable_buffer memory, access_rights rights);
  /// The same of what is a std::span<std::byte>, or becomes one.
  template <std::convertible_to<std::span<std::byte>> Octets>
  registered_memory(domain& in, Octets&& memory, access_rights rights)
      : registered_memory(in, detail::to_mutable_buffer(std::forward<Octets>(memory)), rights) {}
  ~registered_memory();
  registered_memory(registered_memory&&) noexcept;
  registered_memory& operator=(registered_memory&&) noexcept;

  /// The first octet.
  [[nodiscard]] std::byte* data() const;
  /// Octets.
  [[nodiscard]] std::size_t size() const;
  /// All of them.
  [[nodiscard]] std::span<std::byte> bytes() const { return {data(), size()}; }
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

/// A registration of memory that is only read, `const` or not: what is sent, what Writes take their
/// data from, and with source_rights::kRemoteRead what the peer may read. Nothing can be received
/// or read into it. Otherwise as registered_memory.
class IWARP_API registered_const_memory {
 public:
  /// Throws boost::system::system_error.
  registered_const_memory(domain& in, boost::asio::const_buffer memory,
                          source_rights rights = source_rights::kNone);
  /// The same of what is a std::span<const std::byte>, or becomes one; not of memory that ends with
  /// the call, as that of a temporary vector.
  template <std::convertible_to<std::span<const std::byte>> Octets>
    requires std::ranges::borrowed_range<Octets> registered_const_memory(
        domain& in, Octets&& memory, source_rights rights = source_rights::kNone)
        : registered_const_memory(in, detail::to_const_buffer(memory), rights) {}

    /// The first octet.
    [[nodiscard]] const std::byte* data() const { return memory_.data(); }
    /// Octets.
    [[nodiscard]] std::size_t size() const { return memory_.size(); }
    /// All of them.
    [[nodiscard]] std::span<const std::byte> bytes() const { return memory_.bytes(); }
    /// At most `size` octets from `offset` on, cut at the end: for operations of this side.
    [[nodiscard]] const_local_buffer part(std::size_t offset, std::size_t size = SIZE_MAX) const {
      return memory_.part(offset, size);
    }
    /// All of it, for operations of this side.
    operator const_local_buffer() const { return memory_; }
    /// The same range as the peer names it. `rights` had to let it read.
    [[nodiscard]] remote_buffer remote(std::size_t offset = 0, std::size_t size = SIZE_MAX) const {
      return memory_.remote(offset, size);
    }

   private:
    registered_memory memory_;
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
  explicit registered_buffer(domain& in, std::size_t size,
                             access_rights rights = access_rights::kLocalWrite);
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
