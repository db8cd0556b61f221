#include "man/footer.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace iwarp::cli::man {
namespace {

using Lines = std::vector<std::string>;

std::vector<Lines> paragraphs_of(const std::string& text) {
  std::vector<Lines> paragraphs(1);
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) {
      paragraphs.back().push_back(line);
    } else if (!paragraphs.back().empty()) {
      paragraphs.emplace_back();
    }
  }
  if (paragraphs.back().empty()) paragraphs.pop_back();
  return paragraphs;
}

std::string joined(Lines::const_iterator begin, Lines::const_iterator end) {
  std::string text;
  for (auto line = begin; line != end; ++line) text += (text.empty() ? "" : " ") + *line;
  return text;
}

/// What follows the label, or nothing if `text` begins otherwise.
std::string behind(std::string_view label, const std::string& text) {
  if (!text.starts_with(label)) return {};
  return text.substr(std::min(text.size(), text.find_first_not_of(' ', label.size())));
}

/// The lines of examples without their label and without the indentation that they share.
Lines examples_of(Lines lines) {
  const std::size_t label = lines.front().find(':') + 1;
  lines.front().replace(0, label, label, ' ');
  if (lines.front().find_first_not_of(' ') == std::string::npos) lines.erase(lines.begin());
  std::size_t shared = std::string::npos;
  for (const auto& line : lines) shared = std::min(shared, line.find_first_not_of(' '));
  for (auto& line : lines) line.erase(0, shared);
  return lines;
}

void add_running_text(const Lines& lines, Footer& footer) {
  const auto status = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("Exit status:");
  });
  if (status != lines.end())
    footer.exit_status = behind("Exit status:", joined(status, lines.end()));
  const std::string text = joined(lines.begin(), status);
  if (text.starts_with("Environment:")) {
    footer.environment = behind("Environment:", text);
  } else if (!text.empty()) {
    footer.description.push_back(text);
  }
}

}  // namespace

Footer parse_footer(const std::string& text) {
  Footer footer;
  for (const Lines& lines : paragraphs_of(text)) {
    const std::string& first = lines.front();
    if (first.starts_with("Examples:") || first.starts_with("Example:")) {
      footer.examples = examples_of(lines);
    } else {
      add_running_text(lines, footer);
    }
  }
  return footer;
}

}  // namespace iwarp::cli::man
