#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace iwarp::cli {

/// What an option or argument takes, as its checks say it. A flag takes nothing: its name is empty.
struct OptionValues {
  std::string name;                ///< What --help calls it: N, FILE, HOST:PORT.
  std::vector<std::string> words;  ///< All that are permitted; empty: there is no such list.
  std::string least, greatest;     ///< Of a range; empty: there is none.
};
OptionValues values_of(const CLI::Option& option);

/// The names under which it can be given, "-q" and "--quiet"; for an argument, its one name.
std::vector<std::string> names_of(const CLI::Option& option);

/// What --help and manual pages say: what it does, which values it takes unless that is said
/// already, and which one by default. Sentences, each with its full stop.
std::string explanation_of(const CLI::Option& option);

/// The text with a full stop, unless it ends a sentence already.
std::string as_sentence(std::string text);

}  // namespace iwarp::cli
