#include "help/mistakes.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

#include "context.hpp"
#include "format.hpp"
#include "help/command_name.hpp"
#include "help/option_values.hpp"
#include "text/near_word.hpp"

namespace iwarp::cli {
namespace {

/// The first word that `command` did not know what to do with.
std::optional<std::string> unexpected_word(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word != "--") return word;
  }
  return {};
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const sub : subcommands_of(command)) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : options_of(command)) {
    if (option->get_positional()) continue;
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  }
  return names;
}

std::string no_such_subcommand(const CLI::App& command, const std::string& name) {
  return fmt::format("{} has no subcommand '{}'{}", full_name(command), name,
                     did_you_mean(name, subcommand_names(command)));
}

std::string unexpected(const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("{} has no option '{}'{}", full_name(command), name,
                       did_you_mean(name, option_names(command)));
  }
  if (command.get_parent() == nullptr) return no_such_subcommand(command, word);
  return fmt::format("'{}' is one argument too many for {}", word, full_name(command));
}

std::string missing(const CLI::App& command, const std::string& name) {
  if (command.get_parent() == nullptr) {
    return fmt::format("{} needs a subcommand: {}", full_name(command),
                       joined(subcommand_names(command), ", "));
  }
  return fmt::format("{} needs {}", full_name(command), name);
}

/// The text between two others, of which `before` begins at the start; none if they are not there.
std::optional<std::string> between(const std::string& text, const std::string& before,
                                   const std::string& behind) {
  if (!text.starts_with(before)) return std::nullopt;
  const std::size_t end = text.find(behind, before.size());
  if (end == std::string::npos) return std::nullopt;
  return text.substr(before.size(), end - before.size());
}

/// What CLI11 says of a value, with its own words where they are plain: those of our checks.
std::string wrong_value(const std::string& text) {
  if (const auto option = between(text, "Could not convert: ", " = ")) {
    return fmt::format("{} does not take '{}'", *option, text.substr(text.find(" = ") + 3));
  }
  const auto option = between(text, "", ": ");
  if (!option) return text;
  const std::string said = text.substr(option->size() + 2);
  const std::string kReceived = " required but received ";
  if (said.starts_with("At Most ") && said.find(kReceived) != std::string::npos) {
    return fmt::format("{} is given {} times, and taken once", *option,
                       said.substr(said.find(kReceived) + kReceived.size()));
  }
  if (said.find(" required ") != std::string::npos && said.ends_with(" missing")) {
    return *option + " needs a value";
  }
  return text;
}

}  // namespace

std::string explained(const CLI::App& root, const std::string& mistake) {
  return fmt::format("{} ({} --help explains)", mistake, full_name(chosen_command(root)));
}

std::string mistake_in(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(root);
  // A word too many is the reason where another one is missed: the one was meant for the other.
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    if (const auto word = unexpected_word(*at)) return explained(root, unexpected(*at, *word));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::string text = error.what();
    return explained(root, missing(command, text.substr(0, text.find(" is required"))));
  }
  return explained(root, wrong_value(error.what()));
}

const CLI::App& subcommand_called(const CLI::App& command, const std::string& name) {
  for (const CLI::App* const sub : subcommands_of(command)) {
    if (sub->get_name() == name) return *sub;
  }
  throw usage_error(no_such_subcommand(command, name));
}

}  // namespace iwarp::cli
