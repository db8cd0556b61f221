#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace iwarp::conform {

/// How many results of each verdict.
using Counts = std::map<Verdict, std::size_t>;
Counts count_verdicts(const std::vector<Result>& results);

/// The layers of the results, in the order in which they first appear.
std::vector<std::string_view> layers_of(const std::vector<Result>& results);

/// What a run says of requirements.
class Outcomes {
 public:
  explicit Outcomes(const Report& report);

  /// Of kind wire: the worst verdict of its cases that ran, in the order pass, skip, departure,
  /// error, fail, or "not run". Of another kind: the kind.
  std::string of(const Requirement& requirement) const;

 private:
  std::map<std::string_view, Verdict> verdicts_;
};

}  // namespace iwarp::conform
