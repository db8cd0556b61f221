#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "soft/qp/life.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::input_has_ended;
using connection::Life;
using connection::LifeEvent;
using connection::Program;

/// Is asked for the time while a life changes: nothing may be wanted then for what does not show
/// yet.
class WatchfulTime final : public TimeSource {
 public:
  explicit WatchfulTime(const Wanted& wanted) : wanted_(wanted) {}

  [[nodiscard]] Time now() const override { return {}; }
  Time running() override {
    EXPECT_FALSE(wanted_.transmit.load());
    ++times_asked;
    return {};
  }

  int times_asked = 0;

 private:
  const Wanted& wanted_;
};

using Events = std::vector<LifeEvent>;

/// A life, and what it has the halves do.
struct LifeOfTest {
  explicit LifeOfTest(const Events& events = {}) {
    for (const LifeEvent event : events) apply(event);
  }
  /// What is wanted afterwards is wanted for this.
  void apply(LifeEvent event) {
    for (auto* each : {&wanted.transmit, &wanted.flush, &wanted.conclusion}) each->store(false);
    life.apply(event);
  }

  Wanted wanted;
  WatchfulTime time{wanted};
  QpLife life{Program::kStays, {}, time, wanted};
};

auto as_tuple(const Life& life) {
  return std::tuple(life.course, life.input, life.output, life.program);
}

std::string sentence(const Life& life, LifeEvent event) {
  return std::string(to_string(life.course)) + ", input " + to_string(life.input) + ", output " +
         to_string(life.output) + ", program " + to_string(life.program) + ": " + to_string(event);
}

/// Calls `look(events, event)` for each event in each state that a life can come to, with the
/// events that lead there.
template <typename Look>
void for_each_step(Look look) {
  std::deque<Events> open{{}};
  std::set<decltype(as_tuple({}))> seen{as_tuple(LifeOfTest().life.now())};
  for (; !open.empty(); open.pop_front()) {
    for (int i = 0; i <= static_cast<int>(LifeEvent::kLost); ++i) {
      const auto event = static_cast<LifeEvent>(i);
      look(open.front(), event);
      Events longer = open.front();
      longer.push_back(event);
      if (seen.insert(as_tuple(LifeOfTest(longer).life.now())).second) open.push_back(longer);
    }
  }
}

// The last step of a graceful end waits for the peer's FIN as well as for what was sent. While one
// thread reads the FIN another may be sending: the wish must not be there before what it is for, or
// that thread takes it in vain, and the end comes only when the linger time is over.
TEST(QpLife, HasTheTransmitHalfRunBehindTheEndOfTheInputAndBehindEachNewCourse) {
  int ends_of_input = 0, new_courses = 0;
  for_each_step([&](const Events& before, LifeEvent event) {
    LifeOfTest test(before);
    const Life from = test.life.now();
    test.apply(event);
    const Life to = test.life.now();
    const bool ends_input = input_has_ended(to) && !input_has_ended(from);
    const bool begins = to.course == Course::kOperational;  // the start-up does what is to be done
    const bool new_course = to.course != from.course && !begins;
    EXPECT_TRUE(test.time.times_asked != 0 || !ends_input);
    ends_of_input += ends_input ? 1 : 0;
    new_courses += new_course ? 1 : 0;
    EXPECT_EQ(test.wanted.transmit.load(), ends_input || new_course) << sentence(from, event);
    EXPECT_EQ(test.wanted.conclusion.load(), new_course && to.course == Course::kClosed)
        << sentence(from, event);
  });
  EXPECT_GT(ends_of_input, 10);
  EXPECT_GT(new_courses, 10);
}

TEST(QpLife, StepsThatChangeNothingWantNothing) {
  LifeOfTest test({LifeEvent::kEnterAsInitiator, LifeEvent::kDisconnect, LifeEvent::kAllSent,
                   LifeEvent::kPeerFin});
  EXPECT_TRUE(test.wanted.transmit.load());
  EXPECT_TRUE(test.life.awaits_delivery());
  test.apply(LifeEvent::kPeerFin);  // told of again
  EXPECT_FALSE(test.wanted.transmit.load());
}

}  // namespace
}  // namespace iwarp::verbs::soft
