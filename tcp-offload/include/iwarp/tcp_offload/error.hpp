#pragma once

#include <system_error>

namespace iwarp::tcp_offload {

/// What can end an operation besides the system's own errors. Operations of this layer report
/// std::error_code: of std::system_category() for what the operating system said (the simulated
/// device uses the same codes), or of this enumeration. A cancelled operation compares equal to
/// std::errc::operation_canceled.
enum class Error {
  kEndOfStream = 1,  ///< The peer's FIN came before all of the octets asked for.
  kBadCrc,           ///< A device that checks CRCs has received an FPDU with another one.
  kBadMarker,        ///< A device that removes Markers has received one that points elsewhere.
};

/// The category of Error.
const std::error_category& error_category() noexcept;

/// Makes Error an std::error_code; found by argument-dependent look-up.
inline std::error_code make_error_code(Error error) noexcept {
  return {static_cast<int>(error), error_category()};
}

}  // namespace iwarp::tcp_offload

/// @cond  Doxygen does not find its way into std.
template <>
struct std::is_error_code_enum<iwarp::tcp_offload::Error> : std::true_type {};
/// @endcond
