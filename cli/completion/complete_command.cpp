#include "completion/complete_command.hpp"

#include <iostream>
#include <memory>

#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

void print(const Completion& completion) {
  switch (completion.by) {
    case CompletedBy::kCandidates: std::cout << "candidates\n"; break;
    case CompletedBy::kFiles: std::cout << "files\n"; break;
    case CompletedBy::kDirectories: std::cout << "directories\n"; break;
    case CompletedBy::kProgram: std::cout << "program " << completion.program << '\n'; break;
  }
  for (const auto& [word, description] : completion.candidates) {
    std::cout << printable(word) << '\t' << printable(description) << '\n';
  }
}

}  // namespace

void add_complete_command(CLI::App& app, ValueSources sources) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("complete", "Say what may stand next in a command line");
  command->group("");
  command->add_option("WORDS", *words, "The command line up to the cursor")->required();
  command->callback(
      [words, &app, sources = std::move(sources)] { print(complete(app, *words, sources)); });
}

}  // namespace iwarp::cli
