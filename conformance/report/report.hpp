#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/runner.hpp"
#include "requirements/requirement.hpp"

namespace iwarp::conform {

/// A run, as it is told to people and programs.
struct Report {
  std::string tester = "iwarp conform", version;
  std::string target;  ///< In words: what was tested, and where it is.
  std::chrono::system_clock::time_point started{};
  std::vector<std::pair<std::string, std::string>> options{};  ///< Name and value.
  std::vector<std::string> remarks{};  ///< What else the reader should know, a sentence each.
  std::vector<Result> results{};
  std::vector<Requirement> requirements{};
};

inline constexpr const char* kPageName = "index.html";

/// Makes the directory of a report if it is not there. Throws as write_report does: before a run,
/// so that its results are not lost for want of it.
void make_directory(const std::filesystem::path& directory);

/// Writes into `directory`, which is made if it is not there: junit.xml, report.json, the page
/// kPageName, and CASE-ID.pcapng of each case that had a connection. Files of these names are
/// overwritten, others stay. Throws std::runtime_error with a sentence that names what cannot be
/// written.
void write_report(const Report& report, const std::filesystem::path& directory);

}  // namespace iwarp::conform
