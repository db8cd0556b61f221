#include "completion/completion.hpp"

#include <algorithm>
#include <string_view>

#include "help/command_name.hpp"
#include "help/option_values.hpp"

namespace iwarp::cli {
namespace {

/// Enough of a description for one line.
std::string beginning_of(const std::string& description) {
  std::size_t end = description.size();
  for (const std::string_view stop : {";", " (", ". ", ": "}) {
    end = std::min(end, description.find(stop));
  }
  return description.substr(0, end);
}

const CLI::Option* option_called(const CLI::App& command, std::string_view name) {
  for (const CLI::Option* const option : options_of(command)) {
    const auto names = names_of(*option);
    if (option->nonpositional() && std::find(names.begin(), names.end(), name) != names.end()) {
      return option;
    }
  }
  return nullptr;
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && !values_of(*option).name.empty();
}

const CLI::App* subcommand_called(const CLI::App& command, std::string_view name) {
  for (const CLI::App* const sub : subcommands_of(command)) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

/// `iwarp run`, whose first argument begins the command line of another program.
bool runs_a_program(const CLI::App& command) { return command.get_name() == "run"; }

/// What the words before the last one come to.
class Parsed {
 public:
  Parsed(const CLI::App& root, std::span<const std::string> words)
      : command_(&root), named_(&root) {
    for (std::size_t i = 1; i < words.size(); ++i) take(words[i], i);
  }

  const CLI::App& command() const { return *command_; }
  /// The option whose value is next; null if none's is.
  const CLI::Option* pending() const { return pending_; }
  bool only_arguments() const { return only_arguments_; }
  std::size_t arguments() const { return arguments_; }
  /// Of `iwarp help`: the subcommand that its arguments name; null if there is none.
  const CLI::App* named() const { return named_; }
  /// The index of the program of `iwarp run`, or 0.
  std::size_t program() const { return program_; }

 private:
  void take(const std::string& word, std::size_t index) {
    if (program_ != 0) return;
    if (pending_ != nullptr) {
      pending_ = nullptr;
    } else if (!only_arguments_ && word == "--") {
      only_arguments_ = true;
    } else if (!only_arguments_ && word.starts_with('-')) {
      const CLI::Option* const option = option_called(*command_, word);
      if (takes_value(option)) pending_ = option;
    } else {
      take_argument(word, index);
    }
  }

  void take_argument(const std::string& word, std::size_t index) {
    if (!only_arguments_ && arguments_ == 0) {
      if (const CLI::App* const sub = subcommand_called(*command_, word)) {
        command_ = sub;
        return;
      }
    }
    if (named_ != nullptr) named_ = subcommand_called(*named_, word);
    if (runs_a_program(*command_)) program_ = index;
    ++arguments_;
  }

  const CLI::App* command_;
  const CLI::App* named_;
  const CLI::Option* pending_ = nullptr;
  bool only_arguments_ = false;
  std::size_t arguments_ = 0;
  std::size_t program_ = 0;
};

/// The argument that is next; null if no further one is taken.
const CLI::Option* next_argument(const Parsed& parsed) {
  std::size_t index = parsed.arguments();
  for (const CLI::Option* const option : options_of(parsed.command())) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<std::size_t>(std::max(option->get_items_expected_max(), 1));
    if (index < most) return option;
    index -= most;
  }
  return nullptr;
}

class Completer {
 public:
  Completer(const std::string& current, const ValueSources& sources)
      : current_(current), sources_(sources) {}

  Completion take() { return std::move(completion_); }
  bool empty() const {
    return completion_.by == CompletedBy::kCandidates && completion_.candidates.empty();
  }

  void add(const std::string& word, const std::string& description) {
    if (word.starts_with(current_)) completion_.candidates.push_back({word, description});
  }

  void add_options(const CLI::App& command) {
    for (const CLI::Option* const option : options_of(command)) {
      if (option->get_positional()) continue;
      for (const std::string& name : names_of(*option)) {
        add(name, beginning_of(option->get_description()));
      }
    }
  }

  void add_subcommands(const CLI::App& command) {
    for (const CLI::App* const sub : subcommands_of(command)) {
      add(sub->get_name(), sub->get_description());
    }
  }

  /// `prefix` stands before the value in the same word: "--hash=".
  void add_values(const CLI::Option& option, const std::string& prefix = {}) {
    const OptionValues values = values_of(option);
    const std::string before = prefix + listed_before(values, prefix.size());
    for (const std::string& word : values.words) add(before + word, {});
    if (const auto source = sources_.find(values.name); source != sources_.end()) {
      for (const auto& [word, description] : source->second()) add(before + word, description);
    }
    if (values.name == "FILE") completion_.by = CompletedBy::kFiles;
    if (values.name == "DIR") completion_.by = CompletedBy::kDirectories;
  }

  void add_argument(const CLI::Option& argument, const Parsed& parsed) {
    if (values_of(argument).name != "SUBCOMMAND") {
      add_values(argument);
    } else if (parsed.named() != nullptr) {
      add_subcommands(*parsed.named());
    }
  }

  void leave_to_program(std::size_t index) {
    completion_.by = CompletedBy::kProgram;
    completion_.program = index;
  }

 private:
  /// Of a list (INTERFACE[,INTERFACE...]), the members that stand there already, with their commas.
  std::string listed_before(const OptionValues& values, std::size_t begin) const {
    const std::size_t end = current_.rfind(',') + 1;  // 0 if there is none
    const bool list = values.name.find(',') != std::string::npos && end > begin;
    return list ? current_.substr(begin, end - begin) : "";
  }

  const std::string& current_;
  const ValueSources& sources_;
  Completion completion_;
};

}  // namespace

Completion complete(const CLI::App& root, std::span<const std::string> words,
                    const ValueSources& sources) {
  if (words.empty()) return {};
  const std::string& current = words.back();
  const Parsed parsed(root, words.first(words.size() - 1));
  const CLI::App& command = parsed.command();
  Completer completer(current, sources);
  const bool option = current.starts_with('-') && !parsed.only_arguments();
  const std::size_t equals = current.find('=');
  if (parsed.program() != 0) {
    completer.leave_to_program(parsed.program());
  } else if (parsed.pending() != nullptr) {
    completer.add_values(*parsed.pending());
  } else if (option && equals != std::string::npos) {
    const CLI::Option* const named = option_called(command, current.substr(0, equals));
    if (takes_value(named)) completer.add_values(*named, current.substr(0, equals + 1));
  } else if (option) {
    completer.add_options(command);
  } else if (runs_a_program(command)) {
    completer.leave_to_program(words.size() - 1);
  } else {
    if (parsed.arguments() == 0) completer.add_subcommands(command);
    if (const CLI::Option* const next = next_argument(parsed)) {
      completer.add_argument(*next, parsed);
    }
    if (completer.empty() && current.empty()) completer.add_options(command);
  }
  return completer.take();
}

}  // namespace iwarp::cli
