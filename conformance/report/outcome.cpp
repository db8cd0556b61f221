#include "report/outcome.hpp"

#include <algorithm>

namespace iwarp::conform {
namespace {

int badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return 0;
    case Verdict::kSkip: return 1;
    case Verdict::kDeparture: return 2;
    case Verdict::kError: return 3;
    case Verdict::kFail: return 4;
  }
  return 4;
}

}  // namespace

Counts count_verdicts(const std::vector<Result>& results) {
  Counts counts;
  for (const Result& result : results) ++counts[result.verdict];
  return counts;
}

std::vector<std::string_view> layers_of(const std::vector<Result>& results) {
  std::vector<std::string_view> layers;
  for (const Result& result : results) {
    const std::string_view layer = result.test.layer();
    if (std::find(layers.begin(), layers.end(), layer) == layers.end()) layers.push_back(layer);
  }
  return layers;
}

Outcomes::Outcomes(const Report& report) {
  for (const Result& result : report.results) verdicts_[result.test.id] = result.verdict;
}

std::string Outcomes::of(const Requirement& requirement) const {
  if (requirement.kind != "wire") return requirement.kind;
  const Verdict* worst = nullptr;
  for (const std::string& id : requirement.cases) {
    const auto found = verdicts_.find(id);
    if (found == verdicts_.end()) continue;
    if (worst == nullptr || badness(found->second) > badness(*worst)) worst = &found->second;
  }
  return worst == nullptr ? "not run" : std::string(name_of(*worst));
}

}  // namespace iwarp::conform
