#pragma once

#include "iwarp/asio/memory.hpp"
#include "iwarp/base/export.hpp"

namespace iwarp::asio {

namespace detail {
/// What a binding was asked for with, and what comes of it.
struct binding {
  const void* domain;  ///< The window's.
  verbs::BindWr request;
  remote_buffer result;
};
}  // namespace detail

/// A memory window of type 2: opens a part of a registration to the peer of one connection, and
/// closes it again, without registering anything (connection::async_bind(), async_invalidate(); the
/// peer may close it too). Bound again it has another STag. Not to be used from two threads at
/// once.
class IWARP_API memory_window {
 public:
  /// Throws boost::system::system_error.
  explicit memory_window(domain& in);
  ~memory_window();
  memory_window(memory_window&&) noexcept;
  memory_window& operator=(memory_window&&) noexcept;

  /// The STag of the latest binding that was asked for, whatever came of it: what a binding that
  /// succeeded has opened is under its remote_buffer::stag.
  [[nodiscard]] Stag stag() const { return stag_; }

 private:
  friend class connection;
  detail::binding next_binding(const registered_memory& region, std::size_t offset,
                               std::size_t size, access_rights rights);

  std::shared_ptr<detail::domain_core> domain_;
  verbs::MemoryWindow window_;
  Stag stag_;
};

}  // namespace iwarp::asio
