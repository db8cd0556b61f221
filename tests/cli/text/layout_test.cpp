#include "text/layout.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli {
namespace {

TEST(Broken, EndsLinesBetweenWords) {
  EXPECT_EQ(broken("one two three", 8), "one two\nthree\n");
  EXPECT_EQ(broken("one two three", 80), "one two three\n");
  EXPECT_EQ(broken("a-long-word b", 4), "a-long-word\nb\n");
}

TEST(Broken, KeepsBlanksOfNames) {
  EXPECT_EQ(broken("cannot open 'a  b'", 80), "cannot open 'a  b'\n");
  EXPECT_EQ(broken("cannot open 'a  b'", 13), "cannot open\n'a  b'\n");
}

TEST(Filled, BreaksLinesBetweenWords) {
  EXPECT_EQ(filled("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(filled("one two three", 8, "- ", 2), "- one\n  two\n  three\n");
  EXPECT_EQ(filled("  one\n two ", 80), "one two\n");
  EXPECT_EQ(filled("", 80, "x"), "");
}

TEST(Filled, LeavesLongWordsWhole) {
  EXPECT_EQ(filled("a iwarp://host/name b", 5), "a\niwarp://host/name\nb\n");
}

TEST(Filled, CountsColumns) {
  EXPECT_EQ(filled("\xC3\xA4\xC3\xA4 \xC3\xA4\xC3\xA4", 5), "\xC3\xA4\xC3\xA4 \xC3\xA4\xC3\xA4\n");
}

TEST(FilledParagraphs, KeepsWhatIsLaidOutAlready) {
  EXPECT_EQ(filled_paragraphs("one\ntwo\n\nExamples:\n  iwarp put a b\n  iwarp get b a", 12),
            "one two\n\nExamples:\n  iwarp put a b\n  iwarp get b a\n");
  EXPECT_EQ(filled_paragraphs("Example:  one two\n          three four", 5),
            "Example:  one two\n          three four\n");
  EXPECT_EQ(filled_paragraphs("a\n  b\nc\nd", 80), "a\n  b\nc d\n");
}

TEST(FilledParagraphs, GivesTheExitStatusALine) {
  EXPECT_EQ(filled_paragraphs("Some.\nExit status: 0\nor 1.", 80), "Some.\nExit status: 0 or 1.\n");
}

TEST(FilledParagraphs, SeparatesByOneEmptyLine) {
  EXPECT_EQ(filled_paragraphs("\na\n\n\nb", 80), "a\n\nb\n");
}

TEST(TerminalColumns, AreThoseOfATerminalAlone) { EXPECT_EQ(terminal_columns(-1), std::nullopt); }

}  // namespace
}  // namespace iwarp::cli
