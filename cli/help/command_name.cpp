#include "help/command_name.hpp"

namespace iwarp::cli {

const CLI::App& root_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? command : root_of(*command.get_parent());
}

std::string full_name(const CLI::App& command, char separator) {
  if (command.get_parent() == nullptr) return command.get_name();
  return full_name(*command.get_parent(), separator) + separator + command.get_name();
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* one) { return !one->get_group().empty(); });
}

const CLI::App& chosen_command(const CLI::App& root) {
  const auto chosen = root.get_subcommands();
  return chosen.empty() ? root : chosen_command(*chosen.back());
}

}  // namespace iwarp::cli
