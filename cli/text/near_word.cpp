#include "text/near_word.hpp"

#include <algorithm>

namespace iwarp::cli {
namespace {

std::string_view without_dashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

std::optional<std::string> only_completion(std::string_view word,
                                           const std::vector<std::string>& candidates) {
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    if (word.empty() || !without_dashes(candidate).starts_with(word)) continue;
    if (found) return {};
    found = candidate;
  }
  return found;
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> last_but_one(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    last_but_one.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool exchanged =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (exchanged) row[j] = std::min(row[j], last_but_one[j - 2] + 1);
    }
  }
  return row.back();
}

std::optional<std::string> near_word(std::string_view word,
                                     const std::vector<std::string>& candidates) {
  const std::string_view core = without_dashes(word);
  std::optional<std::string> nearest;
  std::size_t fewest = std::max<std::size_t>(core.size() / 3, core.size() > 1 ? 1 : 0) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t mistakes = edit_distance(core, without_dashes(candidate));
    if (mistakes >= fewest) continue;
    fewest = mistakes;
    nearest = candidate;
  }
  return nearest ? nearest : only_completion(core, candidates);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = near_word(word, candidates);
  return near ? "; did you mean " + *near + "?" : "";
}

}  // namespace iwarp::cli
