#pragma once

#include "harness/context.hpp"

namespace iwarp::conform {

/// What a case needs of the target.
enum class Needs { kListener, kAgent };

/// One test. Its id is LAYER.GROUP.NAME and never changes; the tables of docs/requirements say
/// which requirements it tests.
struct Case {
  std::string_view id;
  std::string_view title;  ///< What the target must do, as a sentence.
  Needs needs = Needs::kAgent;
  std::function<void(Context&)> run;

  std::string_view layer() const { return id.substr(0, id.find('.')); }
};

}  // namespace iwarp::conform
