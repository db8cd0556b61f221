#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "iwarp/asio/connection_options.hpp"
#include "iwarp/asio/detail/operation.hpp"
#include "iwarp/asio/memory_window.hpp"
#include "iwarp/asio/message_pool.hpp"
#include "iwarp/asio/request.hpp"
#include "iwarp/base/export.hpp"

/// Between the templates of a connection and its core. Not for use outside of the library.
namespace iwarp::asio::detail {

class connection_core;
class registered_places;

/// A request on its way through a queue of the device. Its address is the wr_id.
class posted_base : public operation_base {
 public:
  enum class queue : std::uint8_t { send, receive };

  queue in = queue::send;
  bool is_atomic = false;
  /// Where the result of an atomic comes, or a message lies that does not go inline; else null.
  registered_places* places = nullptr;
  std::uint32_t place = 0;              ///< In `places`.
  verbs::BindWr bind{};                 ///< Of a binding.
  const void* window_domain = nullptr;  ///< Of a binding.
  send_request request{};               ///< Of a receive only `local`.
  std::vector<std::byte> copied{};      ///< What was not registered, while the request waits here.
  std::shared_ptr<connection_core> owner{};  ///< Stays until the device has answered.

 protected:
  using operation_base::operation_base;
  ~posted_base() = default;
};

template <typename Result>
class posted : public posted_base {
 public:
  using result_type = Result;
  Result result{};

 protected:
  using posted_base::posted_base;
  ~posted() = default;
};

IWARP_API std::weak_ptr<canceller> link_of(const std::shared_ptr<connection_core>& core);

/// Takes the descriptor out of Asio's hands.
IWARP_API verbs::StreamingSocket release(boost::asio::ip::tcp::socket socket,
                                         std::vector<std::byte> already_read);

// What the templates below call. Each ends the operation sooner or later.
IWARP_API void start_connect(connection_core&, operation<nothing>&, const endpoint&,
                             const verbs::ConnectOptions&);
IWARP_API void start_adopt(connection_core&, operation<nothing>&, verbs::StreamingSocket&,
                           const verbs::ConnectOptions&);
IWARP_API void start_shutdown(connection_core&, operation<nothing>&);
IWARP_API void start_message(connection_core&, operation<message>&);
IWARP_API void start_receive(connection_core&, posted<received>&, const buffer_list&);
IWARP_API void start_request(connection_core&, posted<nothing>&, const send_request&);
IWARP_API void start_atomic(connection_core&, posted<std::uint64_t>&, const send_request&);
IWARP_API void start_bind(connection_core&, posted<remote_buffer>&, const binding&);

}  // namespace iwarp::asio::detail
