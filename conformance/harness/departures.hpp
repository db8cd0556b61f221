#pragma once

#include <filesystem>
#include <map>

#include "harness/runner.hpp"

namespace iwarp::conform {

/// Where a target is known to depart from the RFCs: a tab-separated file with a header line and
/// the columns case, requirement, what the target does. A failure that stands in it is expected; a
/// case that stands in it and passes is reported.
class Departures {
 public:
  struct Departure {
    std::string requirement, what;
  };

  /// Throws std::runtime_error that names the file and the line.
  static Departures read(const std::filesystem::path& file);

  /// Changes a failure that is known into Verdict::kDeparture.
  void apply(Result& result) const;
  /// Cases of the table that passed in this run.
  std::vector<std::string> outdated(const std::vector<Result>& results) const;
  const std::map<std::string, Departure, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, Departure, std::less<>> all_;
};

}  // namespace iwarp::conform
