#include "soft/startup/streaming_connection.hpp"

#include <string>
#include <utility>

namespace iwarp::verbs::soft {
namespace {

Error adoption_error(int descriptor, std::error_code reason) {
  const auto code = static_cast<std::errc>(reason.value());
  std::string why = reason.message();
  if (code == std::errc::bad_file_descriptor) why = "it is no open descriptor";
  if (code == std::errc::not_a_socket) why = "it is no socket";
  if (code == std::errc::wrong_protocol_type) why = "it is no TCP socket";
  if (code == std::errc::not_connected) why = "it is not connected";
  return {std::make_error_code(code),
          "adopting descriptor " + std::to_string(descriptor) + " failed: " + why};
}

}  // namespace

Outcome<StreamingConnection> take_socket(tcp_offload::Device& device, StreamingSocket& socket) {
  auto connection = device.adopt(socket.descriptor());
  if (!connection) return failure(adoption_error(socket.descriptor(), connection.error()));
  static_cast<void>(socket.release());
  return StreamingConnection{std::move(*connection), socket.take_already_read()};
}

StreamingSocket give_socket(StreamingConnection streaming) {
  const int descriptor = streaming.connection->release_native();
  if (descriptor < 0) return {};
  return StreamingSocket(descriptor, std::move(streaming.already_read));
}

}  // namespace iwarp::verbs::soft
