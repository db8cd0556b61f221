#include <iostream>

#include "commands.hpp"
#include "help/formatter.hpp"
#include "help/mistakes.hpp"

namespace iwarp::cli {

void add_help_command(CLI::App& app) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Print the help of a subcommand");
  command->add_option("SUBCOMMAND", *names, "Of which; without it, the help of iwarp itself");
  command->footer(
      "Examples:\n"
      "  iwarp help\n"
      "  iwarp help put           (the same as iwarp put --help)\n"
      "  iwarp help perf server");
  command->callback([names, &app] {
    const CLI::App* of = &app;
    for (const std::string& name : *names) of = &subcommand_called(*of, name);
    std::cout << help_of(*of);
  });
}

}  // namespace iwarp::cli
