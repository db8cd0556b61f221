#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include "iwarp/base/export.hpp"

namespace iwarp::verbs {

/// Which part of a work request a PostError is about.
enum class PostField : std::uint8_t {
  kNone,          ///< None: the queue, the connection or the device does not take it.
  kOpcode,        ///< SendWr::opcode.
  kFlags,         ///< SendWr::flags.
  kSges,          ///< SendWr::sges or RecvWr::sges: how many there are, or their length in all.
  kSgeLength,     ///< Sge::length of the element PostError::element.
  kBind,          ///< SendWr::bind.
  kRegistration,  ///< SendWr::registration.
};
/// A name for it, as in messages: "opcode". Of kNone it is empty.
IWARP_API const char* to_string(PostField field);

/// Why a list of work requests was not posted as a whole: those before `index` were, unless the
/// list was posted with Posting::kAllOrNone.
struct IWARP_API PostError {
  /// ENOMEM queue full; EINVAL malformed or beyond the queue's limits; EMSGSIZE 2^32 octets or
  /// more; ENOTCONN wrong state; ENOTSUP an operation of RFC 7306, which is not in force here;
  /// ENODEV in a forked child, see Device.
  std::errc code{};
  std::size_t index = 0;               ///< Of the first request that was not posted.
  PostField field = PostField::kNone;  ///< What of that request is wrong.
  std::size_t element = 0;             ///< With kSgeLength: of which element of its list.
  /// What is wrong with it, in words that last; empty if the code says all there is to say.
  const char* reason = "";

  /// All of it for people: "request 3: sges[2].length: …".
  [[nodiscard]] std::string message() const;
};

}  // namespace iwarp::verbs
