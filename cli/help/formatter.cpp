#include "help/formatter.hpp"

#include <algorithm>

#include "help/command_name.hpp"
#include "help/option_values.hpp"
#include "text/layout.hpp"

namespace iwarp::cli {
namespace {

constexpr std::size_t kLongestLine = 96;  // beyond that, eyes lose the next line
constexpr std::size_t kNarrow = 60;       // below that, two columns are none
constexpr std::size_t kTextColumn = 27;
constexpr std::size_t kNarrowIndent = 6;

/// A subcommand takes over its parent's footer, whose help shows it.
std::string own_footer(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  const bool inherited = parent != nullptr && parent->get_footer() == command.get_footer();
  return inherited ? "" : command.get_footer();
}

}  // namespace

std::size_t HelpFormatter::width() const {
  return width_ != 0 ? width_ : std::min(output_columns(), kLongestLine);
}

std::string HelpFormatter::item(const std::string& tag, const std::string& text) const {
  const std::size_t indent = width() < kNarrow ? kNarrowIndent : kTextColumn;
  std::string first = "  " + tag;
  if (first.size() + 1 > indent || width() < kNarrow) {
    return first + "\n" + filled(text, width(), std::string(indent, ' '), indent);
  }
  first.resize(indent, ' ');
  return filled(text, width(), first, indent);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const std::string value = values_of(*option).name;
  const bool shown = !is_positional && !value.empty();
  return item(make_option_name(option, is_positional) + (shown ? " " + value : ""),
              explanation_of(*option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  return item(sub->get_name(), sub->get_description());
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const std::string usage = make_usage(app, std::move(name));
  std::string text = filled(app->get_description(), width()) + "\n" + filled(usage, width(), {}, 7);
  text += make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode);
  const std::string footer = filled_paragraphs(own_footer(*app), width());
  return footer.empty() ? text : text + "\n" + footer;
}

std::string help_of(const CLI::App& command) {
  const std::string name = full_name(command);
  return command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
}

}  // namespace iwarp::cli
