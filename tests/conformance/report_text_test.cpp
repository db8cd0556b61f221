#include <gmock/gmock.h>

#include "report/frame_table.hpp"
#include "report/outcome.hpp"
#include "report/text.hpp"

namespace iwarp::conform::test {
namespace {

using namespace std::chrono_literals;

TEST(ReportText, CleanKeepsWhatPeopleCanRead) {
  EXPECT_EQ(clean("§4.4 „größer“ → 日本 😀"), "§4.4 „größer“ → 日本 😀");
}

TEST(ReportText, CleanNamesControlCharacters) {
  EXPECT_EQ(clean(std::string_view("a\0b\x1b[31m\r\n\x7f", 11)), "a\\x00b\\x1b[31m\\x0d\\x0a\\x7f");
  EXPECT_EQ(clean("\xC2\x9B"), "\\u009b");          // a control of one octet in disguise
  EXPECT_EQ(clean("x\xE2\x80\xAEy"), "x\\u202ey");  // writes from right to left
  EXPECT_EQ(clean("\xEF\xBF\xBF"), "\\uffff");      // no character
}

TEST(ReportText, CleanNamesOctetsThatAreNoUtf8) {
  EXPECT_EQ(clean("\xFF\xFE"), "\\xff\\xfe");
  EXPECT_EQ(clean("\xC0\xAF"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(clean("\xE0\x80\x80"), "\\xe0\\x80\\x80");           // overlong
  EXPECT_EQ(clean("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(clean("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(clean("ab\xE2\x82"), "ab\\xe2\\x82");                // cut off
}

TEST(ReportText, AbridgesOnlyLongTextsAndCutsNoCharacter) {
  EXPECT_EQ(abridged(std::string(80, 'x'), 80), std::string(80, 'x'));
  const std::string shown =
      abridged("12" + std::string(40, 'a') + "ÄÖÜÄÖÜ" + std::string(40, 'b'), 63);
  EXPECT_EQ(shown, "12" + std::string(40, 'a') + "ÄÖ … 41 octets left out … bbbbbbb");
}

TEST(ReportText, XmlIsEscaped) {
  EXPECT_EQ(xml_escaped("<a b=\"c\">&amp;'\x01"), "&lt;a b=&quot;c&quot;&gt;&amp;amp;'\\x01");
}

TEST(ReportText, WritesTimes) {
  const auto time = std::chrono::system_clock::from_time_t(951782399) + 7ms;
  EXPECT_EQ(iso_time(time), "2000-02-28T23:59:59.007Z");
  EXPECT_EQ(seconds(1234567us), "1.234");
  EXPECT_EQ(seconds(5ms), "0.005");
}

TEST(ReportText, WritesEndsOfConnections) {
  EXPECT_EQ(end_text("192.0.2.1", 80), "192.0.2.1:80");
  EXPECT_EQ(end_text("2001:db8::1", 80), "[2001:db8::1]:80");
  EXPECT_EQ(end_text("", 0), "?");
}

TEST(ReportText, WritesBase64) {
  EXPECT_EQ(base64({}), "");
  EXPECT_EQ(base64(octets("f")), "Zg==");
  EXPECT_EQ(base64(octets("fo")), "Zm8=");
  EXPECT_EQ(base64(octets("foobar")), "Zm9vYmFy");
  EXPECT_EQ(base64(Octets{0xFB, 0xFF, 0xFE}), "+//+");
}

TEST(FrameTable, KeepsEqualFramesOnce) {
  FrameTable table;
  const Field field{.part = Part::kMpa, .name = "Rev", .value = "2", .ranges = {{0, 1}}};
  EXPECT_EQ(table.frame(Octets{2}, {field}), 0U);
  EXPECT_EQ(table.frame(Octets{2}, {field}), 0U);
  Field other = field;
  other.value = "3";
  EXPECT_EQ(table.frame(Octets{3}, {other}), 1U);
  EXPECT_EQ(table.shapes().size(), 1U);
}

Result of(std::string_view id, Verdict verdict) {
  Result result;
  result.test.id = id;
  result.verdict = verdict;
  return result;
}

Requirement needing(std::vector<std::string> cases, std::string kind = "wire") {
  return {.id = "5044-4-01",
          .level = "MUST",
          .text = "",
          .kind = std::move(kind),
          .cases = std::move(cases),
          .tests = {},
          .note = ""};
}

TEST(Outcomes, ARequirementHasTheWorstVerdictOfItsCases) {
  Report report;
  report.results = {of("mpa.a.pass", Verdict::kPass), of("mpa.a.skip", Verdict::kSkip),
                    of("mpa.a.departure", Verdict::kDeparture), of("mpa.a.error", Verdict::kError),
                    of("mpa.a.fail", Verdict::kFail)};
  const Outcomes outcomes(report);
  EXPECT_EQ(outcomes.of(needing({"mpa.a.pass"})), "pass");
  EXPECT_EQ(outcomes.of(needing({"mpa.a.pass", "mpa.a.skip"})), "skip");
  EXPECT_EQ(outcomes.of(needing({"mpa.a.departure", "mpa.a.skip"})), "departure");
  EXPECT_EQ(outcomes.of(needing({"mpa.a.departure", "mpa.a.error"})), "error");
  EXPECT_EQ(outcomes.of(needing({"mpa.a.fail", "mpa.a.error"})), "fail");
}

TEST(Outcomes, CasesThatDidNotRunSayNothing) {
  Report report;
  report.results = {of("mpa.a.pass", Verdict::kPass)};
  const Outcomes outcomes(report);
  EXPECT_EQ(outcomes.of(needing({"mpa.a.pass", "mpa.a.other"})), "pass");
  EXPECT_EQ(outcomes.of(needing({"mpa.a.other"})), "not run");
  EXPECT_EQ(outcomes.of(needing({}, "ulp")), "ulp");
}

}  // namespace
}  // namespace iwarp::conform::test
