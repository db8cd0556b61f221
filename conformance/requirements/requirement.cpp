#include "requirements/requirement.hpp"

#include <algorithm>

#include "requirements/table.hpp"

namespace iwarp::conform {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

std::vector<std::string> list(const std::string& cell) {
  return cell.empty() ? std::vector<std::string>{} : split(cell, ", ");
}

// The columns: id, level, requirement, kind, code, cases, tests, note.
Requirement parse(std::string_view line) {
  std::vector<std::string> cells = split(line, "\t");
  cells.resize(8);
  return {.id = cells[0],
          .level = cells[1],
          .text = cells[2],
          .kind = cells[3],
          .cases = list(cells[5]),
          .tests = list(cells[6]),
          .note = cells[7]};
}

std::vector<Requirement> parse_all() {
  std::vector<Requirement> all;
  for (const std::string_view line : kRequirementLines) {
    if (!line.empty() && !line.starts_with("id\t")) all.push_back(parse(line));
  }
  return all;
}

}  // namespace

const std::vector<Requirement>& requirements() {
  static const std::vector<Requirement> all = parse_all();
  return all;
}

}  // namespace iwarp::conform
