#pragma once

#include <string>

#include "report/report.hpp"

namespace iwarp::conform {

/// The data of the page as JSON that may stand in a script element: it has no '<', even where the
/// target has said one. page/model.js reads it, and says what is where.
std::string page_data_of(const Report& report);

}  // namespace iwarp::conform
