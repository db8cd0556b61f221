#include "iwarp/verbs/post_error.hpp"

namespace iwarp::verbs {
namespace {

// What a code means that comes without words of its own.
std::string meaning_of(std::errc code) {
  switch (code) {
    case std::errc::not_enough_memory: return "the queue is full";
    case std::errc::invalid_argument: return "malformed, or beyond the limits of the queue";
    case std::errc::message_size: return "2^32 octets or more (RFC 5041 §5.2)";
    case std::errc::not_connected: return "the queue pair is not connected, or is being closed";
    case std::errc::not_supported: return "not in force on this connection, or not on this device";
    case std::errc::no_such_device: return "the queue was inherited by fork, or its device is gone";
    default: return std::make_error_code(code).message();
  }
}

}  // namespace

const char* to_string(PostField field) {
  switch (field) {
    case PostField::kNone: return "";
    case PostField::kOpcode: return "opcode";
    case PostField::kFlags: return "flags";
    case PostField::kSges: return "sges";
    case PostField::kSgeLength: return "sges[].length";
    case PostField::kBind: return "bind";
    case PostField::kRegistration: return "registration";
  }
  return "unknown field";
}

std::string PostError::message() const {
  std::string text = "request " + std::to_string(index) + ": ";
  if (field == PostField::kSgeLength) {
    text += "sges[" + std::to_string(element) + "].length: ";
  } else if (field != PostField::kNone) {
    text += std::string(to_string(field)) + ": ";
  }
  return text + (*reason != '\0' ? std::string(reason) : meaning_of(code));
}

}  // namespace iwarp::verbs
