#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that comes from elsewhere (a peer, a command line, a disk) on its way to a terminal.
namespace iwarp::cli {

/// A character at the front of a text.
struct Character {
  char32_t code = 0;
  std::size_t octets = 1;
  bool valid = false;  ///< Otherwise it is an octet that begins no well-formed UTF-8.
};

/// Precondition: `text` is not empty. Overlong forms, surrogates and what lies beyond U+10FFFF are
/// not well-formed.
Character first_character(std::string_view text);

/// U+0000 to U+001F, U+007F, and U+0080 to U+009F, which terminals obey too.
bool is_control(char32_t code);

/// `text` with each control character, and each octet that is not part of well-formed UTF-8,
/// replaced by '?'.
std::string printable(std::string_view text);

/// How many columns of a terminal the text takes. Of what is combined or of no width the number is
/// too large, never too small.
std::size_t columns(std::string_view text);

/// The longest beginning that takes at most so many columns.
std::string_view fitting(std::string_view text, std::size_t columns);

}  // namespace iwarp::cli
