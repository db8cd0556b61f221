#include "iwarp/connection/life.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace iwarp::connection {
namespace {

constexpr LifeEvent kEvents[] = {LifeEvent::kEnterAsInitiator,
                                 LifeEvent::kEnterAsResponder,
                                 LifeEvent::kFirstFpdu,
                                 LifeEvent::kDisconnect,
                                 LifeEvent::kClose,
                                 LifeEvent::kAbort,
                                 LifeEvent::kFault,
                                 LifeEvent::kPeerTerminate,
                                 LifeEvent::kInputStopped,
                                 LifeEvent::kPeerFin,
                                 LifeEvent::kInputLost,
                                 LifeEvent::kOutputLost,
                                 LifeEvent::kPeerGoneForLong,
                                 LifeEvent::kAllSent,
                                 LifeEvent::kAllDelivered,
                                 LifeEvent::kLost};
static_assert(std::size(kEvents) == static_cast<std::size_t>(LifeEvent::kLost) + 1);

std::string to_text(const Life& life) {
  return std::string(to_string(life.course)) + " | input " + to_string(life.input) + " | output " +
         to_string(life.output) + " | program " + to_string(life.program);
}

// Every state that a connection can come to, in the order in which they are found.
std::vector<Life> reachable() {
  std::vector<Life> found;
  for (const Program program : {Program::kStays, Program::kUnaware}) {
    found.push_back({.program = program});
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const LifeEvent event : kEvents) {
      const Life next = step(found[i], event).next;
      if (std::ranges::find(found, next) == found.end()) found.push_back(next);
    }
  }
  return found;
}

// What each event does in each state, where it does something.
std::string grid() {
  std::ostringstream text;
  for (const Life& life : reachable()) {
    text << to_text(life) << '\n';
    for (const LifeEvent event : kEvents) {
      const LifeStep to = step(life, event);
      if (to.next == life && to.action == LifeAction::kNone) continue;
      text << "    " << to_string(event) << " -> " << to_text(to.next);
      if (to.action != LifeAction::kNone) text << ": " << to_string(to.action);
      text << '\n';
    }
  }
  return text.str();
}

// The same with all but the course left out, as a diagram of Mermaid.
std::string diagram() {
  // In the order of courses, with the events of each arrow in theirs.
  std::map<std::pair<Course, Course>, std::set<LifeEvent>> arrows;
  for (const Life& life : reachable()) {
    for (const LifeEvent event : kEvents) {
      const Life next = step(life, event).next;
      if (next.course != life.course) arrows[{life.course, next.course}].insert(event);
    }
  }
  std::string text = "stateDiagram-v2\n    [*] --> idle\n";
  for (const auto& [courses, events] : arrows) {
    text += std::string("    ") + to_string(courses.first) + " --> " + to_string(courses.second);
    const char* separator = " : ";
    for (const LifeEvent event : events) {
      text += std::exchange(separator, ", ") + std::string(to_string(event));
    }
    text += '\n';
  }
  return text + "    closed --> [*]\n";
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Keeps what was found beside the tests, to be copied where a change is meant.
void keep(const std::string& name, const std::string& text) { std::ofstream(name) << text; }

TEST(Life, GoesAsTheGridSaysThatIsKept) {
  keep("life.grid", grid());
  EXPECT_EQ(grid(), contents_of(IWARP_CONNECTION_TESTS "/life.grid"))
      << "if the change is meant, copy life.grid from where the tests run";
}

TEST(Life, IsDrawnInTheDocuments) {
  keep("life.mermaid", diagram());
  EXPECT_NE(
      contents_of(IWARP_DOCUMENTS "/architecture.md").find("```mermaid\n" + diagram() + "```"),
      std::string::npos)
      << "docs/architecture.md lacks this diagram:\n"
      << diagram();
}

TEST(Life, NeverComesBackFromItsEnd) {
  for (const Life& life : reachable()) {
    if (life.course != Course::kClosed) continue;
    for (const LifeEvent event : kEvents) {
      EXPECT_EQ(step(life, event).next.course, Course::kClosed) << to_text(life);
      EXPECT_EQ(step(life, event).action, LifeAction::kNone) << to_text(life);
    }
  }
}

TEST(Life, EndsWhereverItIsLostOrAborted) {
  for (const Life& life : reachable()) {
    for (const LifeEvent event : {LifeEvent::kLost, LifeEvent::kAbort}) {
      EXPECT_EQ(step(life, event).next.course, Course::kClosed) << to_text(life);
    }
  }
}

// What is sent goes out before the FIN, and the FIN goes out once.
TEST(Life, SendsFinOnlyOnTheWayIntoDraining) {
  for (const Life& life : reachable()) {
    for (const LifeEvent event : kEvents) {
      const LifeStep to = step(life, event);
      const bool enters = to.next.course == Course::kDraining && life.course != Course::kDraining;
      EXPECT_EQ(to.action == LifeAction::kSendFin, enters)
          << to_text(life) << ", " << to_string(event);
    }
  }
}

TEST(Life, NeverReadsAgainNorSendsAgain) {
  for (const Life& life : reachable()) {
    for (const LifeEvent event : kEvents) {
      const Life next = step(life, event).next;
      EXPECT_TRUE(life.input == Input::kOpen || next.input != Input::kOpen) << to_text(life);
      EXPECT_TRUE(life.output != Output::kLost || next.output == Output::kLost) << to_text(life);
      EXPECT_TRUE(life.program != Program::kGone || next.program == Program::kGone)
          << to_text(life);
      EXPECT_TRUE(!input_has_ended(life) || input_has_ended(next)) << to_text(life);
    }
  }
}

// RFC 5041 §6.2.1, begun by either side.
TEST(Life, GoesRoundAGracefulEnd) {
  using E = LifeEvent;
  for (const auto& events : {std::vector{E::kEnterAsInitiator, E::kDisconnect, E::kAllSent,
                                         E::kPeerFin, E::kAllDelivered},
                             std::vector{E::kEnterAsResponder, E::kFirstFpdu, E::kPeerFin,
                                         E::kAllSent, E::kAllDelivered}}) {
    Life life;
    for (const E event : events) life = step(life, event).next;
    EXPECT_EQ(life.course, Course::kClosed);
  }
}

// The peer's last word may lie in front of a reset that the sending half learns of first.
TEST(Life, ReadsToTheEndWhenNothingCanBeSentAnyMore) {
  Life life = step({}, LifeEvent::kEnterAsInitiator).next;
  life = step(life, LifeEvent::kOutputLost).next;
  EXPECT_EQ(life.course, Course::kOperational);
  EXPECT_EQ(life.input, Input::kOpen);
  const LifeStep end = step(life, LifeEvent::kPeerFin);
  EXPECT_EQ(end.next.course, Course::kClosed);
  EXPECT_EQ(end.action, LifeAction::kReset);
}

TEST(Life, KeepsAnUnawareProgramOperationalForAWhile) {
  Life life{.program = Program::kUnaware};
  life = step(life, LifeEvent::kEnterAsInitiator).next;
  life = step(life, LifeEvent::kPeerFin).next;
  EXPECT_EQ(life.course, Course::kOperational);
  EXPECT_EQ(life.input, Input::kPeerGone);
  EXPECT_EQ(step(life, LifeEvent::kPeerGoneForLong).next.course, Course::kClosing);
}

}  // namespace
}  // namespace iwarp::connection
