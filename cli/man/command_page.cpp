#include "man/command_page.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

#include "help/command_name.hpp"
#include "help/option_values.hpp"
#include "man/footer.hpp"
#include "man/option_item.hpp"
#include "man/roff.hpp"

namespace iwarp::cli::man {
namespace {

/// The description as whatis(1) wants it: no capital at the beginning unless it is a name's, no
/// full stop.
std::string summary(const CLI::App& command) {
  std::string text = command.get_description();
  if (text.ends_with('.')) text.pop_back();
  const auto upper = [&text](std::size_t i) {
    return std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  if (text.size() > 1 && upper(0) && !upper(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// A word of the usage line: what is typed is bold, what stands for something else italic.
std::string synopsis_word(const std::string& word) {
  const std::size_t begin = word.find_first_not_of("[(");
  const std::size_t end = word.find_last_not_of("]).") + 1;
  if (begin == std::string::npos || end <= begin) return literal(word);
  const std::string core = word.substr(begin, end - begin);
  const bool typed = core[0] == '-' || std::islower(static_cast<unsigned char>(core[0])) != 0;
  return literal(word.substr(0, begin)) + (typed ? bold(core) : italic(core)) +
         literal(word.substr(end));
}

/// The usage line of --help, which a command's formatter may have changed.
std::string synopsis(const CLI::App& command) {
  const auto formatter = std::dynamic_pointer_cast<CLI::Formatter>(command.get_formatter());
  if (!formatter) throw std::logic_error(full_name(command) + " has a formatter of another kind");
  std::istringstream words(formatter->make_usage(&command, full_name(command)));
  std::string word, roff;
  words >> word;  // "Usage:"
  while (words >> word) roff += (roff.empty() ? "" : " ") + synopsis_word(word);
  return roff;
}

/// A subcommand takes over its parent's footer; it is shown once.
Footer own_footer(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  const bool inherited = parent != nullptr && parent->get_footer() == command.get_footer();
  return inherited ? Footer{} : parse_footer(command.get_footer());
}

void add_name(Page& page, const CLI::App& command) {
  page.section("NAME");
  page.raw(literal(page_name(command)) + " \\- " + prose(summary(command)));
}

void add_synopsis(Page& page, const CLI::App& command) {
  page.section("SYNOPSIS");
  page.paragraph(synopsis(command));
  if (command.get_parent() == nullptr) return;
  for (const CLI::App* const sub : subcommands_of(command)) page.paragraph(synopsis(*sub));
}

void add_description(Page& page, const CLI::App& command, const Footer& footer) {
  page.section("DESCRIPTION");
  page.paragraph(prose(as_sentence(command.get_description())));
  for (const auto& paragraph : footer.description) page.paragraph(prose(paragraph));
}

void add_options(Page& page, const CLI::App& command) {
  for (const bool positional : {true, false}) {
    for (const CLI::Option* const option : options_of(command)) {
      if (option->get_positional() != positional) continue;
      page.item(option_tag(*option), option_text(*option));
    }
  }
}

void add_subcommands(Page& page, const CLI::App& command) {
  const auto subcommands = subcommands_of(command);
  if (subcommands.empty()) return;
  page.section(command.get_parent() == nullptr ? "COMMANDS" : "SUBCOMMANDS");
  for (const CLI::App* const sub : subcommands) {
    if (command.get_parent() == nullptr) {
      page.item(bold(page_name(*sub)) + "(1)", prose(as_sentence(sub->get_description())));
      continue;
    }
    page.subsection(full_name(*sub));
    page.paragraph(prose(as_sentence(sub->get_description())));
    for (const auto& paragraph : own_footer(*sub).description) page.paragraph(prose(paragraph));
    add_options(page, *sub);
  }
}

std::string capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// "0 done, 1 failed" becomes a list, anything else a paragraph.
void add_exit_status(Page& page, const std::string& text) {
  static const std::regex list(R"((\d+ [^,;]+, )*\d+ [^,;]+\.)"), entry(R"((\d+) ([^,;.]+))");
  page.section("EXIT STATUS");
  if (!std::regex_match(text, list)) return page.paragraph(prose(as_sentence(capitalised(text))));
  for (std::sregex_iterator i(text.begin(), text.end(), entry), end; i != end; ++i) {
    page.item(bold((*i)[1].str()), prose(as_sentence(capitalised((*i)[2].str()))));
  }
}

void add_see_also(Page& page, const CLI::App& command) {
  std::vector<std::string> names;
  const CLI::App& root = root_of(command);
  if (&command != &root) names.push_back(page_name(root));
  for (const CLI::App* const sub : subcommands_of(root)) {
    if (sub != &command) names.push_back(page_name(*sub));
  }
  std::sort(names.begin(), names.end());
  std::string roff;
  for (const auto& name : names) roff += (roff.empty() ? "" : ", ") + bold(name) + "(1)";
  page.section("SEE ALSO");
  page.paragraph(roff);
}

}  // namespace

std::string page_name(const CLI::App& command) { return full_name(command, '-'); }

std::string command_page(const CLI::App& command, const Edition& edition) {
  const std::string name = page_name(command);
  const std::string source = root_of(command).get_name() + " " + edition.version;
  Page page({.name = capitals(name), .date = edition.date, .source = source});
  const Footer footer = parse_footer(command.get_footer());
  add_name(page, command);
  add_synopsis(page, command);
  add_description(page, command, footer);
  page.section("OPTIONS");
  add_options(page, command);
  add_subcommands(page, command);
  if (!footer.environment.empty()) {
    page.section("ENVIRONMENT");
    page.paragraph(prose(footer.environment));
  }
  add_exit_status(page, footer.exit_status.empty()
                            ? parse_footer(root_of(command).get_footer()).exit_status
                            : footer.exit_status);
  if (!footer.examples.empty()) {
    page.section("EXAMPLES");
    page.verbatim(footer.examples);
  }
  add_see_also(page, command);
  return page.text();
}

}  // namespace iwarp::cli::man
