#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "help/checks.hpp"
#include "man/command_page.hpp"
#include "man/footer.hpp"
#include "man/roff.hpp"

namespace iwarp::cli::man {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Roff, KeepsLiteralsAsTheyAreTyped) {
  EXPECT_EQ(literal("--no-crc"), "\\-\\-no\\-crc");
  EXPECT_EQ(literal(R"(a\b 'c' `d` "e" ~^)"), R"(a\eb \(aqc\(aq \(gad\(ga \(dqe\(dq \(ti\(ha)");
  EXPECT_EQ(literal("…"), "\\[u2026]");
}

TEST(Roff, SetsOptionsAndQuotedPartsOfProseInBold) {
  EXPECT_EQ(prose("peer-to-peer with --no-crc, not `iwarp run`"),
            "peer-to-peer with \\fB\\-\\-no\\-crc\\fR, not \\fBiwarp run\\fR");
  EXPECT_EQ(prose("- a dash -- and `one quote"), "\\- a dash \\-\\- and \\(gaone quote");
}

TEST(Roff, TakesNoTextForARequest) {
  Page page({"X", "", "x 1"});
  page.verbatim({".TH no", "'so neither"});
  page.paragraph(literal(".SH nor this"));
  EXPECT_THAT(page.text(), HasSubstr("\n\\&.TH no\n\\(aqso neither\n"));
  EXPECT_THAT(page.text(), HasSubstr("\n\\&.SH nor this\n"));
}

TEST(FooterText, IsSortedIntoSections) {
  const Footer footer = parse_footer(
      "One\nparagraph.\nExit status: 0 done,\n1 failed.\n\nEnvironment: A "
      "says\nwhat.\n\nAnother.\n\n"
      "Examples:\n  first\n    more of it\n  second");
  EXPECT_THAT(footer.description, ElementsAre("One paragraph.", "Another."));
  EXPECT_EQ(footer.exit_status, "0 done, 1 failed.");
  EXPECT_EQ(footer.environment, "A says what.");
  EXPECT_THAT(footer.examples, ElementsAre("first", "  more of it", "second"));
}

TEST(FooterText, ExamplesMayStandBehindTheirLabel) {
  EXPECT_THAT(parse_footer("Example:  one\n          two").examples, ElementsAre("one", "two"));
  EXPECT_THAT(parse_footer("").examples, IsEmpty());
}

/// A program with one subcommand, which has one of its own.
class CommandPage : public testing::Test {
 protected:
  CommandPage() {
    app_.footer("Exit status: 0 done, 1 failed.");
    sub_->add_option("FILE", text_, "The file")->required();
    sub_->add_option("--kind", text_, "Which kind")
        ->transform(OneOf({"a", "b"}))
        ->capture_default_str();
    sub_->add_option("--count", number_, "How many")->transform(Within(1, 9));
    sub_->add_option("--hidden", text_, "Unsaid")->group("");
    sub_->footer("Only here.\n\nExample: prog do it");
    sub_->add_subcommand("deep", "Go deeper")->add_flag("--far", far_, "Far below");
  }

  std::string text_ = "a";
  int number_ = 1;
  bool far_ = false;
  CLI::App app_{"A program.", "prog"};
  CLI::App* sub_ = app_.add_subcommand("do", "Do it");
};

TEST_F(CommandPage, ShowsWhatTheHelpShows) {
  const std::string page = command_page(*sub_, {"1.0", "2024-01-02"});
  EXPECT_THAT(page, HasSubstr(".TH PROG\\-DO 1 \"2024-01-02\" \"prog 1.0\""));
  EXPECT_THAT(page, HasSubstr(".SH NAME\nprog\\-do \\- do it\n"));
  EXPECT_THAT(page, HasSubstr("\\fBprog\\fR \\fBdo\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR"));
  EXPECT_THAT(page, HasSubstr("\\fIFILE\\fR\nThe file.\n"));
  EXPECT_THAT(page,
              HasSubstr("\\fB\\-\\-kind\\fR \\fIWORD\\fR\nWhich kind. One of a, b. Default: a."));
  EXPECT_THAT(page, HasSubstr("How many. From 1 to 9."));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.PP\n.RS 4\n.nf\nprog do it\n"));
  EXPECT_THAT(page, HasSubstr("\\fBprog\\fR(1)"));
  EXPECT_THAT(page, Not(HasSubstr("hidden")));
}

TEST_F(CommandPage, DoesNotRepeatTheChoicesThatTheDescriptionNames) {
  sub_->get_option("--kind")->description("Which kind: a or b");
  EXPECT_THAT(command_page(*sub_, {}), HasSubstr("\nWhich kind: a or b. Default: a.\n"));
}

TEST_F(CommandPage, TakesTheExitStatusOfTheProgramUnlessItHasItsOwn) {
  EXPECT_THAT(command_page(*sub_, {}), HasSubstr(".TP\n\\fB1\\fR\nFailed.\n"));
  sub_->footer("Exit status: always 7.");
  EXPECT_THAT(command_page(*sub_, {}), HasSubstr(".SH EXIT STATUS\n.PP\nAlways 7.\n"));
}

TEST_F(CommandPage, DescribesSubcommandsBelowItOnce) {
  const std::string page = command_page(*sub_, {});
  EXPECT_THAT(page, HasSubstr(".SS prog do deep\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-far\\fR"));
  EXPECT_EQ(page.find("Only here"), page.rfind("Only here"));
}

TEST_F(CommandPage, ListsTheSubcommandsThatHavePages) {
  const std::string page = command_page(app_, {});
  EXPECT_THAT(page, HasSubstr(".SH COMMANDS\n.TP\n\\fBprog\\-do\\fR(1)\nDo it.\n"));
  EXPECT_THAT(page, Not(HasSubstr("far")));
}

}  // namespace
}  // namespace iwarp::cli::man
