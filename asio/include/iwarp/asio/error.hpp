#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

#include "iwarp/base/export.hpp"
#include "iwarp/verbs/diagnosis.hpp"
#include "iwarp/verbs/error.hpp"

/// What the operations of the Asio layer report. An operation that this side gave up (closed,
/// cancelled, destroyed) ends with boost::asio::error::operation_aborted; a connection that the
/// peer ended gracefully with boost::asio::error::eof; what befell TCP with the system's own code;
/// all else with one of the two categories here.
namespace iwarp::asio {

/// Boost's.
using boost::system::error_code;

/// Why an operation failed. The message of each names the layer and the reason; which object it was
/// is in connection::last_failure() and in the log.
enum class errc {
  not_registered = 1,  ///< Local memory: not registered, or in another domain, or not all of it.
  message_too_long,    ///< The peer's message is longer than what should receive it.
  remote_access,       ///< The peer refused the STag, the range or the access.
  remote_invalid_request,  ///< The peer refused the request as malformed.
  remote_operation,        ///< The peer failed.
  window_bind,             ///< A window or region that may not be bound so.
  local_queue_pair,        ///< A defect inside this stack.
  connection_lost,         ///< The connection ended with the operation under way.
  not_connected,           ///< No connection yet, or no more.
  rejected,                ///< The peer's program rejected the connection.
  invalid_request,         ///< The arguments make no sense together.
  too_many_buffers,        ///< More elements than the connection gathers or scatters.
  no_message_pool,         ///< async_receive() without a buffer needs a message_pool.
  has_message_pool,        ///< Receives into buffers of one's own exclude a message_pool.
  not_supported,           ///< Not agreed for this connection, such as RFC 7306.
  not_writable,            ///< Local memory without local write, for a receive or a Read.
  beyond_remote_buffer,    ///< Longer than the remote_buffer that the operation was given.
};

/// The category of errc.
IWARP_API const boost::system::error_category& error_category() noexcept;
/// Makes errc an error_code; found by argument-dependent look-up.
inline error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// What several codes have in common.
enum class condition {
  /// The caller's own mistake, in which the peer has no part: `error == condition::misuse`. It is
  /// found before anything is sent, and the connection goes on as if the operation had not been
  /// started. Not so if only the device could know: a window that is bound already, a registration
  /// that ends while the operation is under way. Those end the connection.
  misuse = 1,
};

/// The category of condition.
IWARP_API const boost::system::error_category& condition_category() noexcept;
/// Makes condition an error_condition; found by argument-dependent look-up.
inline boost::system::error_condition make_error_condition(condition what) noexcept {
  return {static_cast<int>(what), condition_category()};
}

/// A Terminate of this side (RFC 5040 §4.8) as an error: the value is layer, type and code in three
/// octets.
IWARP_API const boost::system::error_category& sent_terminate_category() noexcept;
/// The same for one of the peer.
IWARP_API const boost::system::error_category& received_terminate_category() noexcept;

}  // namespace iwarp::asio

/// @cond  Doxygen does not find its way into boost::system.
template <>
struct boost::system::is_error_code_enum<iwarp::asio::errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<iwarp::asio::condition> : std::true_type {};
/// @endcond
