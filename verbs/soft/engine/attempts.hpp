#pragma once

#include <exception>
#include <utility>

#include "iwarp/provider/failure.hpp"

namespace iwarp::verbs::soft {

/// Takes the steps of an engine's thread, of which none is kept from being taken by what another
/// one throws. Connections see to what goes wrong in theirs; for a lack of memory for the engine's
/// own lists there is a next time. Not thread-safe.
class Attempts {
 public:
  template <typename Step>
  void attempt(Step step) {
    try {
      step();
    } catch (const std::exception& thrown) {
      log_failure("the engine cannot take a step", thrown);
      failed_ = true;
    }
  }
  /// Whether one has failed since this was asked last.
  bool take_failed() { return std::exchange(failed_, false); }

 private:
  bool failed_ = false;
};

}  // namespace iwarp::verbs::soft
