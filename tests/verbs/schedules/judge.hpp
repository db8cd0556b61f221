#pragma once

#include "verbs/schedules/schedule.hpp"

namespace iwarp::verbs::simtest::schedules {

/// Says what a schedule that is over has violated, both queue pairs still being there unless they
/// were destroyed on purpose. Files: judge.cpp completions, judge_memory.cpp what is where,
/// judge_end.cpp how the connection ended and what is left.
class Judge {
 public:
  explicit Judge(Record& record) : record_(record) {}
  void judge();

 private:
  // judge.cpp
  void check_requests(Side side);
  void check_request(Side side, const Completion& completion);
  void check_receives(Side side);
  void check_receive(Side side, std::size_t number, const Completion& completion);
  [[nodiscard]] bool may_fail(Side poster, const Operation& operation, Status status) const;

  // judge_memory.cpp
  enum class Arrival : std::uint8_t { kUnknown, kNone, kPart, kWhole };
  void check_memory();
  void check_constants();
  void check_order(Side side);
  void check_responses(Side side);
  void check_adds(Side side);
  Arrival arrival(Side side, const Operation& operation);
  Arrival arrival_of_content(Side side, const Operation& operation);
  Arrival arrival_of_swap(Side side, const Operation& operation);
  Arrival look(Side side, const Operation& operation, const Place& place);

  // judge_end.cpp
  void check_ends(Side side);
  void check_peace();
  void check_terminate(Side side);
  void check_leftovers(Side side);

  [[nodiscard]] const Part& part(Side side) const { return record_.program.of(side); }
  [[nodiscard]] bool was_posted(Side side, const Operation& operation) const {
    return operation.request.wr_id < record_.of(side).operations;
  }
  /// Whether the peer's receive for it succeeded.
  [[nodiscard]] bool received(Side side, const Operation& operation) const;
  /// Whether what has succeeded for a side has to be with the other one: the side has not been told
  /// of a loss, and the other one has listened to the end.
  [[nodiscard]] bool has_promised(Side side) const;
  /// Requests of a side before this one have succeeded, as its completions say.
  [[nodiscard]] std::size_t succeeded(Side side) const;
  void violated(Side side, const std::string& sentence);
  void violated(Side side, const Operation& operation, const std::string& sentence);

  Record& record_;
};

}  // namespace iwarp::verbs::simtest::schedules
