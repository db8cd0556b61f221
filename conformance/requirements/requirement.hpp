#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace iwarp::conform {

/// A normative sentence of an RFC and what became of it here: a line of docs/requirements.
struct Requirement {
  std::string id;     ///< RFC-SECTION-NUMBER
  std::string level;  ///< MUST, SHOULD or MAY
  std::string text;   ///< What it demands, in our words.
  std::string kind;   ///< wire, unit, ulp, n/a or "not met"
  std::vector<std::string> cases, tests;
  std::string note;

  std::string rfc() const { return id.substr(0, id.find('-')); }
  std::string section() const {
    const std::size_t first = id.find('-') + 1;
    return id.substr(first, id.rfind('-') - first);
  }
};

/// All of them, in the order of the RFCs, as they were when the program was built.
const std::vector<Requirement>& requirements();

}  // namespace iwarp::conform
