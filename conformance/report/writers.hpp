#pragma once

#include <string>

#include "report/report.hpp"

// What write_report writes, one function per file.
namespace iwarp::conform {

/// JUnit XML: a suite per layer. Departures are skipped cases, so that a run with no other failure
/// counts as good.
std::string junit_of(const Report& report);
/// Everything but the fields of frames, for programs.
std::string json_of(const Report& report);
/// The page: self-contained, it loads nothing.
std::string page_of(const Report& report);

/// The name of the capture of a case, without a directory.
std::string capture_name(const Result& result);

}  // namespace iwarp::conform
