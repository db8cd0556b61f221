#include "report/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

#include "conformance/fake_run.hpp"

namespace iwarp::conform::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string shown(const TerminalStyle& style, std::size_t planned = 0) {
  std::ostringstream out;
  const Report report = fake_report();
  TerminalSummary summary(out, style);
  summary.begin(report.target, planned == 0 ? report.results.size() : planned);
  for (const Result& result : report.results) {
    summary.running(result.test);
    summary.result(result);
  }
  summary.end();
  return out.str();
}

TEST(TerminalSummary, TellsFailuresOnALineEach) {
  const std::string text = shown({});
  EXPECT_THAT(text, HasSubstr("8 cases against the peer at 192.0.2.7:7471\n"));
  EXPECT_THAT(text, HasSubstr("\nFAIL  ddp.tagged.bounds: expected an FPDU as RFC 5044 frames it; "
                              "got the CRC is 0x12345678, computed 0x12345778\n"));
  EXPECT_THAT(text, HasSubstr("\nERROR mpa.crc.wrong: cannot connect to the target\n"));
  EXPECT_THAT(text, Not(HasSubstr("rdmap.send.delivered")));
}

std::string shown_errors(const TerminalStyle& style) {
  std::ostringstream out;
  TerminalSummary summary(out, style);
  summary.begin("it", 6);
  const std::vector<std::pair<const char*, const char*>> errors{
      {"mpa.a.a", "one"},  {"mpa.a.b", "gone"}, {"mpa.a.c", "gone"},
      {"mpa.a.d", "gone"}, {"mpa.a.e", "one"},  {"mpa.a.f", "one"}};
  for (const auto& [id, text] : errors) {
    summary.result(FakeCase(id).conclude(Verdict::kError, text));
  }
  summary.end();
  return out.str();
}

TEST(TerminalSummary, TellsAnErrorOnceThatMeetsOneCaseAfterTheOther) {
  const std::string text = shown_errors({.live = true});
  EXPECT_THAT(text,
              AllOf(HasSubstr("ERROR mpa.a.b: gone\n"), HasSubstr("ERROR the same in 2 cases\n"),
                    HasSubstr("ERROR mpa.a.e: one\n"), HasSubstr("ERROR the same in 1 case\n")));
  EXPECT_THAT(text, Not(HasSubstr("mpa.a.c: gone")));
  EXPECT_THAT(text, Not(HasSubstr("mpa.a.f: one")));
}

TEST(TerminalSummary, NamesEachCaseInAFile) {
  EXPECT_THAT(shown_errors({}),
              HasSubstr("ERROR mpa.a.b: gone\nERROR mpa.a.c: gone\nERROR mpa.a.d: gone\n"));
}

std::string shown_octets(const TerminalStyle& style, std::size_t digits) {
  std::ostringstream out;
  TerminalSummary summary(out, style);
  summary.begin("it", 1);
  const std::string text = "got (" + std::string(digits, '7') + "), 8";
  summary.result(FakeCase("mpa.a.b").conclude(Verdict::kError, text));
  return out.str();
}

TEST(TerminalSummary, ShowsTheFirstOfManyOctets) {
  const TerminalStyle wide{.live = true, .width = 300};
  EXPECT_THAT(shown_octets(wide, 200), HasSubstr(": got (" + std::string(24, '7') + "…), 8\n"));
  EXPECT_THAT(shown_octets(wide, 112), HasSubstr(": got (" + std::string(112, '7') + "), 8\n"));
  EXPECT_THAT(shown_octets({}, 200), HasSubstr(": got (" + std::string(200, '7') + "), 8\n"));
}

TEST(TerminalSummary, CountsPerLayer) {
  const std::string text = shown({});
  EXPECT_THAT(text, HasSubstr("       passed  failed  errors  departures  skipped\n"
                              "rdmap       2       1       0           1        1\n"
                              "ddp         0       1       0           0        0\n"
                              "mpa         0       1       1           0        0\n"
                              "all         2       3       1           1        1\n"));
}

TEST(TerminalSummary, CountsPerVerdictOnANarrowTerminal) {
  const std::string text = shown({.width = 30});
  EXPECT_THAT(text, HasSubstr("\n           rdmap ddp mpa all\n"
                              "passed         2   0   0   2\n"
                              "failed         1   1   1   3\n"
                              "errors         0   0   1   1\n"
                              "departures     1   0   0   1\n"
                              "skipped        1   0   0   1\n"));
}

TEST(TerminalSummary, TellsReasonsAndDepartures) {
  const std::string text = shown({});
  EXPECT_THAT(text, HasSubstr("skipped:\n    1  the target's agent has no atomic\n"));
  EXPECT_THAT(text, HasSubstr("1 case fails as the table of departures says\n"));
  EXPECT_THAT(text, HasSubstr("4 cases did not pass in 0."));
  EXPECT_THAT(text, Not(HasSubstr("did not run")));
  EXPECT_THAT(shown({}, 10), HasSubstr("\n2 cases did not run\n"));
}

TEST(TerminalSummary, SortsReasonsByHowOftenTheyOccur) {
  std::ostringstream out;
  TerminalSummary summary(out, {});
  summary.begin("it", 3);
  for (const char* reason : {"a rare one", "the usual one", "the usual one"}) {
    summary.result(FakeCase("mpa.a.b").conclude(Verdict::kSkip, reason));
  }
  summary.end();
  EXPECT_THAT(out.str(), HasSubstr("    2  the usual one\n    1  a rare one\n"));
  EXPECT_THAT(out.str(), HasSubstr("nothing failed in 0."));
}

TEST(TerminalSummary, WritesNoEscapeCodesToAFile) {
  const std::string text = shown({});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, Not(HasSubstr("[1/8]")));
}

TEST(TerminalSummary, OverwritesALineOfProgressOnATerminal) {
  const std::string text = shown({.live = true});
  EXPECT_THAT(text, HasSubstr("[1/8] 1 passed  ddp.tagged.bounds\r\x1b[K"));
  // Nothing of it is in front of a line that stays.
  EXPECT_THAT(text, HasSubstr("\r\x1b[KFAIL  ddp.tagged.bounds"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[3")));
}

// Three columns stay free: for the cursor, and for the ^C that a terminal shows.
TEST(TerminalSummary, CutsTheLineOfProgressBetweenWords) {
  EXPECT_THAT(shown({.live = true, .width = 35}),
              HasSubstr("\r\x1b[K[1/8] 1 passed  ddp.tagged\r"));
  EXPECT_THAT(shown({.live = true, .width = 22}), HasSubstr("\r\x1b[K[1/8] 1 passed  ddp\r"));
  EXPECT_THAT(shown({.live = true, .width = 21}), HasSubstr("\r\x1b[K[1/8] 1 passed\r"));
  EXPECT_THAT(shown({.live = true, .width = 16}), HasSubstr("\r\x1b[K[1/8]  ddp\r"));
}

TEST(TerminalSummary, BreaksLinesBetweenWordsOnATerminal) {
  const std::string text = shown({.live = true, .width = 30});
  EXPECT_THAT(text, HasSubstr("8 cases against the peer at\n  192.0.2.7:7471\n"));
  EXPECT_THAT(text, HasSubstr("ERROR mpa.crc.wrong: cannot\n  connect to the target\n"));
  EXPECT_THAT(text, HasSubstr("    1  the target's agent has\n       no atomic\n"));
}

TEST(TerminalSummary, CountsNoColumnsForColours) {
  const std::string text = shown({.live = true, .colours = true, .width = 30});
  EXPECT_THAT(text, HasSubstr("mpa.crc.wrong\x1b[0m: cannot\n  connect to the target\n"));
}

TEST(TerminalSummary, CallsOnlyAWholeRunOneInWhichNothingFailed) {
  std::ostringstream out;
  TerminalSummary summary(out, {});
  summary.begin("it", 2);
  summary.result(FakeCase("mpa.a.b").conclude(Verdict::kPass, {}));
  summary.end();
  EXPECT_THAT(out.str(), HasSubstr("\n1 case did not run\nnothing failed of what ran in 0."));
}

TEST(TerminalSummary, ColoursVerdictsOnATerminal) {
  const std::string text = shown({.live = true, .colours = true});
  EXPECT_THAT(text, HasSubstr("\x1b[31mFAIL \x1b[0m \x1b[1mddp.tagged.bounds\x1b[0m: expected"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m4 cases did not pass\x1b[0m"));
}

TEST(TerminalSummary, NeverPassesOnWhatATargetWantsATerminalToDo) {
  EXPECT_THAT(shown({}), HasSubstr("{{data}}\\x1b[31m; got "));
}

TEST(TerminalStyle, IsPlainForWhatIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const TerminalStyle style = TerminalStyle::of(ends[1]);
  EXPECT_FALSE(style.live);
  EXPECT_FALSE(style.colours);
  ::close(ends[0]);
  ::close(ends[1]);
}

// A terminal of this process's own.
class OwnTerminal {
 public:
  OwnTerminal() : main_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (main_ < 0 || ::grantpt(main_) != 0 || ::unlockpt(main_) != 0) return;
    terminal_ = ::open(::ptsname(main_), O_RDWR | O_NOCTTY);
  }
  OwnTerminal(const OwnTerminal&) = delete;
  OwnTerminal& operator=(const OwnTerminal&) = delete;
  ~OwnTerminal() {
    ::close(terminal_);
    ::close(main_);
  }
  int descriptor() const { return terminal_; }

 private:
  int main_ = -1, terminal_ = -1;
};

TEST(TerminalStyle, RespectsNoColorAndDumbTerminals) {
  const OwnTerminal terminal;
  ASSERT_GE(terminal.descriptor(), 0);
  const winsize size{.ws_row = 10, .ws_col = 44, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal.descriptor(), TIOCSWINSZ, &size), 0);
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(TerminalStyle::of(terminal.descriptor()).live);
  EXPECT_TRUE(TerminalStyle::of(terminal.descriptor()).colours);
  EXPECT_EQ(TerminalStyle::of(terminal.descriptor()).width, 44U);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(TerminalStyle::of(terminal.descriptor()).live);
  EXPECT_FALSE(TerminalStyle::of(terminal.descriptor()).colours);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(TerminalStyle::of(terminal.descriptor()).live);
}

}  // namespace
}  // namespace iwarp::conform::test
