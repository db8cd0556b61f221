#include "conform/selection.hpp"

#include <algorithm>

#include "cases/catalogue.hpp"
#include "context.hpp"
#include "requirements/requirement.hpp"

namespace iwarp::cli {
namespace {

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Whether `wanted` is the case, a group that it is in, or a requirement that it tests.
bool matches(std::string_view case_id, const std::string& wanted) {
  if (case_id == wanted) return true;
  if (case_id.starts_with(wanted) && case_id[wanted.size()] == '.') return true;
  return contains(requirements_of(case_id), wanted);
}

}  // namespace

std::vector<std::string> requirements_of(std::string_view case_id) {
  std::vector<std::string> ids;
  for (const conform::Requirement& requirement : conform::requirements()) {
    if (contains(requirement.cases, case_id)) ids.push_back(requirement.id);
  }
  return ids;
}

std::vector<conform::Case> select(const Selection& selection) {
  std::vector<conform::Case> cases = conform::all_cases();
  for (const std::string& wanted : selection.ids) {
    if (std::none_of(cases.begin(), cases.end(),
                     [&](const auto& one) { return matches(one.id, wanted); })) {
      throw usage_error("no case, group of cases or tested requirement is called " + wanted +
                        "; iwarp conform --list names them");
    }
  }
  std::erase_if(cases, [&](const conform::Case& one) {
    const bool layer = selection.layers.empty() || contains(selection.layers, one.layer());
    const bool id = selection.ids.empty() ||
                    std::any_of(selection.ids.begin(), selection.ids.end(),
                                [&](const std::string& wanted) { return matches(one.id, wanted); });
    return !layer || !id;
  });
  return cases;
}

}  // namespace iwarp::cli
