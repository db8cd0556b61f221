#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace iwarp::cli::man {

/// What the pages say about the program as a whole.
struct Edition {
  std::string version;
  std::string date;  ///< As the page shows it; may be empty.
};

/// The name of the page of a command: "iwarp-put".
std::string page_name(const CLI::App& command);

/// The manual page of the program, or of one of its subcommands. Subcommands of the program are
/// listed, as they have pages of their own; those below are part of their parent's page.
std::string command_page(const CLI::App& command, const Edition& edition);

}  // namespace iwarp::cli::man
