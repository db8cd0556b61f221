#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

/// What may stand next on a command line of `iwarp`, read from its subcommands and options as they
/// are parsed. The shells ask for it at each Tab (completion_command.hpp).
namespace iwarp::cli {

/// A word that may stand there, and what it does.
struct Candidate {
  std::string word;
  std::string description;  ///< May be empty.
};

/// What decides which words may stand there.
enum class CompletedBy {
  kCandidates,   ///< These are all.
  kFiles,        ///< The shell: any file.
  kDirectories,  ///< The shell: a directory.
  kProgram,      ///< The shell: the word is part of the command line of another program.
};

struct Completion {
  CompletedBy by = CompletedBy::kCandidates;
  std::vector<Candidate> candidates;
  std::size_t program = 0;  ///< kProgram: the index of the word that names the program.
};

/// What only the running system or another part of the program knows of the values with such a name
/// ("DEVICE").
using ValueSources = std::map<std::string, std::function<std::vector<Candidate>()>>;

/// Completes the last of `words`, of which the first is the program's name; words behind it do not
/// matter. Of the candidates only those come that begin as the last word does.
Completion complete(const CLI::App& root, std::span<const std::string> words,
                    const ValueSources& sources);

}  // namespace iwarp::cli
