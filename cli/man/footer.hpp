#pragma once

#include <string>
#include <vector>

namespace iwarp::cli::man {

/// The text below the options in --help, sorted into what a manual page keeps apart.
struct Footer {
  std::vector<std::string> description;  ///< Paragraphs, each one line.
  std::string environment;               ///< What follows "Environment:".
  std::string exit_status;               ///< What follows "Exit status:".
  std::vector<std::string> examples;     ///< The lines below "Examples:", not indented.
};

/// Paragraphs are separated by empty lines. "Example:", "Examples:" and "Environment:" begin a
/// paragraph, "Exit status:" a line; what follows up to the paragraph's end belongs to them.
Footer parse_footer(const std::string& text);

}  // namespace iwarp::cli::man
