#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Text in the columns of a terminal.
namespace iwarp::cli {

/// The width of the terminal behind a descriptor; nothing if it is none.
std::optional<std::size_t> terminal_columns(int descriptor);

/// The same of standard output, or 80.
std::size_t output_columns();

/// The words of a paragraph in lines of at most `width` columns, each with its end of line, the
/// first behind `first`, the others behind `indent` blanks. Only words that are longer go beyond.
std::string filled(std::string_view words, std::size_t width, std::string first = {},
                   std::size_t indent = 0);

/// A sentence in lines of at most `width` columns, each with its end of line, broken at single
/// blanks; all others stay, as they may be part of a name.
std::string broken(std::string_view sentence, std::size_t width);

/// Paragraphs, between which an empty line stands, each filled. A line that begins with a blank,
/// and a paragraph that begins with "Example", stay as they are; "Exit status:" begins a line.
std::string filled_paragraphs(const std::string& text, std::size_t width);

}  // namespace iwarp::cli
