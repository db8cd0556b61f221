#include "harness/departures.hpp"

#include <fstream>

namespace iwarp::conform {

Departures Departures::read(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read the departures in " + file.string());
  Departures departures;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos) {
      throw std::runtime_error(
          file.string() + ":" + std::to_string(number) +
          ": a departure has three columns: case, requirement, what the target does");
    }
    if (number == 1) continue;  // the header
    departures.all_[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                              line.substr(second + 1)};
  }
  return departures;
}

void Departures::apply(Result& result) const {
  const auto known = all_.find(result.test.id);
  if (known == all_.end() || result.verdict != Verdict::kFail) return;
  result.verdict = Verdict::kDeparture;
  result.text = known->second.what + " (" + known->second.requirement + "); " + result.text;
}

std::vector<std::string> Departures::outdated(const std::vector<Result>& results) const {
  std::vector<std::string> passed;
  for (const Result& result : results) {
    if (result.verdict == Verdict::kPass && all_.contains(result.test.id)) {
      passed.emplace_back(result.test.id);
    }
  }
  return passed;
}

}  // namespace iwarp::conform
