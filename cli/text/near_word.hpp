#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace iwarp::cli {

/// How many single characters have to be inserted, left out, replaced or exchanged with their
/// neighbour to make one word of the other (optimal string alignment).
std::size_t edit_distance(std::string_view one, std::string_view other);

/// What was probably meant: the candidate to which the fewest mistakes lead, one for each three
/// characters at most, or else the only one that begins with `word`. Dashes in front of both do not
/// count.
std::optional<std::string> near_word(std::string_view word,
                                     const std::vector<std::string>& candidates);

/// "; did you mean WORD?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace iwarp::cli
