#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "verbs/schedules/setting.hpp"

namespace iwarp::verbs::simtest::schedules {

/// A range of a region that one operation has for itself.
struct Place {
  Region* region = nullptr;
  std::size_t at = 0;
};

/// A send work request, and what must come of it. Octets of `content` are never 0, and memory that
/// something is to arrive in is 0 before: so how much has arrived can be seen.
struct Operation {
  SendWr request;  ///< `wr_id` is its place among the operations of its side.
  std::vector<Sge> sges;
  std::vector<std::byte> inline_data;  ///< Scribbled over once it is posted.
  BindWr bind;
  RegisterWr registration;

  std::vector<std::byte> content;
  Place there;  ///< Where the content arrives at the peer: Sends and Writes.
  Place here;   ///< Where it arrives at this side: Reads, and what atomics return.
  std::optional<std::size_t> receive;    ///< Which receive of the peer it completes.
  std::optional<std::size_t> hears;      ///< Not before this receive of its own side has succeeded.
  std::optional<std::uint64_t> swapped;  ///< kCmpSwap: what is in the peer's memory afterwards.
  Place word;                            ///< Atomics: what they work on.
  std::vector<const Region*> uses;       ///< Whose loss may fail it.
  bool spoiled = false;                  ///< Names on purpose what it may not.
  bool spoiled_sink = false;             ///< ... and only in this side's memory for the response.
};

struct Receive {
  std::vector<Sge> sges;
  Place place;
  std::size_t capacity = 0;
  std::size_t operation = 0;  ///< Of the peer.
};

/// What one side does.
struct Part {
  std::deque<Operation> operations;
  std::deque<Receive> receives;
  Place counter;  ///< At the peer: each FetchAdd of this side adds 1 to it.
  std::uint64_t adds = 0;
  std::vector<std::shared_ptr<provider::Mw>> windows;
  std::vector<std::shared_ptr<provider::FastMr>> fast_regions;
};

/// Memory that nobody may change.
struct Constant {
  const Region* region;
  std::vector<std::byte> content;
};

/// Both sides' requests. Each side posts its own in order; whatever a request waits for comes
/// earlier in the order that they were drawn in, so that a program always gets to its end.
struct Program {
  Part parts[2];
  std::vector<Constant> constants;
  std::deque<Region*> regions[2];

  [[nodiscard]] Part& of(Side side) { return parts[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const Part& of(Side side) const { return parts[static_cast<std::size_t>(side)]; }
};

inline constexpr std::uint64_t kCounterStart = 0x1111111111111111;

/// Draws a program; its memory belongs to the ends of `pair`.
Program draw_program(Random& random, const Setting& setting, SimPair& pair);

std::ostream& operator<<(std::ostream& out, const Operation& operation);

}  // namespace iwarp::verbs::simtest::schedules
