#include "help/formatter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "help/checks.hpp"
#include "help/command_name.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A program with a subcommand that has arguments, options and a footer.
struct Program {
  explicit Program(std::size_t width) {
    app.formatter(std::make_shared<HelpFormatter>(width));
    command = app.add_subcommand("put", "Send a file to somewhere that is far away from here");
    command->add_option("FILE", text, "The file to send, which is read to its end")->required();
    command->add_option("--hash", text, "Which digest")->transform(OneOf({"sha256", "none"}));
    command->add_option("--unsaid", text)->group("");
    command->footer("Some words on it that\nare filled.\n\nExample:\n  iwarp put it");
    command->add_subcommand("deep", "Deeper");
    command->add_subcommand("secret", "Unsaid")->group("");
  }

  std::string text;
  CLI::App app{"A program.", "iwarp"};
  CLI::App* command = nullptr;
};

std::size_t widest_line(const std::string& text) {
  std::istringstream input(text.substr(0, text.find("Example:")));
  std::size_t widest = 0;
  for (std::string line; std::getline(input, line);) widest = std::max(widest, columns(line));
  return widest;
}

TEST(HelpFormatter, ShowsNamesAndWhatTheyDoInTwoColumns) {
  Program program(80);
  const std::string help = help_of(*program.command);
  EXPECT_THAT(help, HasSubstr("Usage: iwarp put [OPTIONS] FILE [SUBCOMMAND]\n"));
  EXPECT_THAT(help,
              HasSubstr("\nPositionals:\n  FILE                     The file to send, which"));
  EXPECT_THAT(help, HasSubstr("\n  --hash WORD              Which digest. One of sha256, none.\n"));
  EXPECT_THAT(help, HasSubstr("\nSome words on it that are filled.\n\nExample:\n  iwarp put it\n"));
  EXPECT_THAT(help, HasSubstr("\nSubcommands:\n  deep                     Deeper\n"));
}

TEST(HelpFormatter, ShowsThemOneBelowTheOtherOnANarrowTerminal) {
  Program program(30);
  const std::string help = help_of(*program.command);
  EXPECT_THAT(help,
              HasSubstr("\n  --hash WORD\n      Which digest. One of\n      sha256, none.\n"));
  EXPECT_LE(widest_line(help), 30U);
}

TEST(HelpFormatter, FitsTheWidth) {
  for (std::size_t width = 28; width < 120; ++width) {
    Program program(width);
    EXPECT_LE(widest_line(help_of(*program.command)), width);
    EXPECT_LE(widest_line(help_of(program.app)), width);
  }
}

TEST(HelpFormatter, KeepsWhatIsHidden) {
  Program program(80);
  EXPECT_THAT(help_of(*program.command), Not(HasSubstr("nsaid")));
}

TEST(HelpFormatter, RepeatsNoFooterOfTheParent) {
  Program program(80);
  const CLI::App* const deep = subcommands_of(*program.command).front();
  EXPECT_THAT(help_of(*deep), Not(HasSubstr("filled")));
}

}  // namespace
}  // namespace iwarp::cli
