#pragma once

#include <stdexcept>
#include <string>

namespace iwarp::conform {

/// Thrown by what a case expects, caught by the runner.
struct Failure : std::runtime_error {
  Failure(std::string expected_text, std::string got_text)
      : std::runtime_error("expected " + expected_text + "; got " + got_text),
        expected(std::move(expected_text)),
        got(std::move(got_text)) {}
  std::string expected, got;
};

/// The case does not apply to this target, for the reason given.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The target or its agent cannot be reached or broke off: nothing is known about the case.
struct Unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Nothing answers at its address.
struct CannotConnect : Unreachable {
  using Unreachable::Unreachable;
};

}  // namespace iwarp::conform
