#include "soft/startup/error.hpp"

#include "iwarp/tcp_offload/error.hpp"

namespace iwarp::verbs::soft {
namespace {

std::errc errc_of(mpa::Error error) {
  switch (error) {
    case mpa::Error::kConnectionLost: return std::errc::connection_reset;
    case mpa::Error::kTimeout: return std::errc::timed_out;
    case mpa::Error::kInsufficientIrd: return std::errc::no_buffer_space;
    case mpa::Error::kInvalidOptions: return std::errc::invalid_argument;
    default: return std::errc::protocol_error;
  }
}

Error make_error(std::errc code, const std::string& what, const std::string& why) {
  return {std::make_error_code(code), what + ": " + why};
}

}  // namespace

std::string to_text(const Endpoint& endpoint) { return endpoint.to_string(); }

std::string to_text(std::chrono::milliseconds time) {
  const bool whole = time >= std::chrono::seconds(1) && time.count() % 1000 == 0;
  return whole ? std::to_string(time.count() / 1000) + " s" : std::to_string(time.count()) + " ms";
}

Error stream_error(const std::string& what, std::error_code reason) {
  if (reason == tcp_offload::Error::kEndOfStream) {
    return make_error(std::errc::connection_reset, what, "the peer closed the connection");
  }
  // Writing to a connection that was reset before reports a broken pipe.
  if (reason == std::errc::broken_pipe || reason == std::errc::connection_reset) {
    return make_error(std::errc::connection_reset, what, "the peer reset the connection");
  }
  const bool system = reason.category() == std::system_category();
  const auto code = system ? static_cast<std::errc>(reason.value()) : std::errc::io_error;
  return make_error(code, what, reason.message());
}

Error mpa_error(const std::string& what, mpa::Error reason) {
  return make_error(errc_of(reason), what, mpa::describe(reason));
}

}  // namespace iwarp::verbs::soft
