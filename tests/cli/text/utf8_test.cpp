#include "text/utf8.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli {
namespace {

TEST(Printable, ReplacesWhatSteersATerminal) {
  EXPECT_EQ(printable("a\x1B[2Jb\nc\x7F"), "a?[2Jb?c?");
  EXPECT_EQ(printable(std::string("\0", 1)), "?");
  EXPECT_EQ(printable("\xC2\x9B"), "?");  // U+009B, with which a terminal begins a command too
  EXPECT_EQ(printable("\xC2\xA0"), "\xC2\xA0");
}

TEST(Printable, PassesWellFormedUtf8) {
  for (const char* text :
       {"", "plain", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ReplacesEachOctetThatIsNoUtf8) {
  EXPECT_EQ(printable("a\xFFz"), "a?z");
  EXPECT_EQ(printable("\x80"), "?");
  EXPECT_EQ(printable("\xE2\x82"), "??");            // cut short
  EXPECT_EQ(printable("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(printable("\xE0\x80\x9B"), "???");       // overlong, of a control character
  EXPECT_EQ(printable("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xE2\x1B\x82"), "???");
}

TEST(Columns, AreOneOrTwoOfACharacter) {
  EXPECT_EQ(columns(""), 0U);
  EXPECT_EQ(columns("ab\xC3\xA4"), 3U);
  EXPECT_EQ(columns("\xE6\xBC\xA2\xE5\xAD\x97"), 4U);
  EXPECT_EQ(columns("\xF0\x9F\x98\x80"), 2U);
  EXPECT_EQ(columns("\xFF"), 1U);
}

TEST(Fitting, CutsNoCharacter) {
  EXPECT_EQ(fitting("abc", 2), "ab");
  EXPECT_EQ(fitting("abc", 3), "abc");
  EXPECT_EQ(fitting("a\xC3\xA4z", 2), "a\xC3\xA4");
  EXPECT_EQ(fitting("a\xE6\xBC\xA2", 2), "a");
  EXPECT_EQ(fitting("abc", 0), "");
}

}  // namespace
}  // namespace iwarp::cli
