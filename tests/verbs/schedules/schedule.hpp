#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "verbs/schedules/program.hpp"

namespace iwarp::verbs::simtest::schedules {

/// How far one side has come.
struct Progress {
  std::size_t operations = 0;  ///< Posted.
  std::size_t receives = 0;    ///< Posted.
  bool destroyed = false;
  bool parted = false;           ///< It has asked for a graceful end,
  bool dropped = false;          ///< and to hear no more.
  const Region* lost = nullptr;  ///< The region that was taken away.
};

/// What there is to judge when a schedule is over.
struct Record {
  const Setting& setting;
  const Program& program;
  SimPair& pair;
  Progress progress[2];
  std::vector<std::string> violations;

  [[nodiscard]] SimEnd& end(Side side) const {
    return side == Side::kClient ? pair.client : pair.server;
  }
  [[nodiscard]] const Progress& of(Side side) const {
    return progress[static_cast<std::size_t>(side)];
  }
};

/// Runs the schedule with this seed in virtual time; says what was violated, one sentence each. The
/// same seed is the same schedule. Any number of threads may run schedules at once.
std::vector<std::string> run_schedule(std::uint64_t seed, std::ostream* trace = nullptr);

/// Runs the schedules [first, first + count) on `threads` threads. Reports each that violates
/// something, up to ten, to `out` with the command that runs it again; returns whether none did.
bool run_schedules(std::uint64_t first, std::uint64_t count, unsigned threads, std::ostream& out);

}  // namespace iwarp::verbs::simtest::schedules
