#include "help/checks.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli {
namespace {

/// What the check makes of a value, or what it says of one that is not permitted.
std::string judged(const CLI::Validator& check, std::string value) {
  const std::string fault = check(value);
  return fault.empty() ? value : fault;
}

TEST(OneOf, NamesTheWordsAndTheNearOne) {
  const OneOf check({"write", "read", "send"});
  EXPECT_EQ(judged(check, "read"), "read");
  EXPECT_EQ(judged(check, "wirte"), "'wirte' is not write, read or send; did you mean write?");
  EXPECT_EQ(judged(check, ""), "'' is not write, read or send");
}

TEST(Within, TakesBothEnds) {
  const Within check(1, 4096);
  EXPECT_EQ(judged(check, "1"), "1");
  EXPECT_EQ(judged(check, "4096"), "4096");
  for (const char* value : {"0", "4097", "-1", "0x10", "1.0", " 1", "1 ", ""}) {
    EXPECT_EQ(judged(check, value),
              "'" + std::string(value) + "' is not a whole number from 1 to 4096");
  }
}

TEST(Within, HandsOnDecimals) {
  EXPECT_EQ(judged(Within(0, 100), "010"), "10");  // which CLI11 would read as 8
  EXPECT_EQ(judged(Within(0.1, 86400.0), "0.5"), "0.5");
  EXPECT_EQ(judged(Within(0.1, 86400.0), "nan"), "'nan' is not a number from 0.1 to 86400");
}

TEST(Octets, HaveUnits) {
  const Octets check(136, 65536);
  EXPECT_EQ(judged(check, "136"), "136");
  EXPECT_EQ(judged(check, "64K"), "65536");
  EXPECT_EQ(judged(check, "1k"), "1024");
  EXPECT_EQ(judged(Octets(1, 1ULL << 40), "3M"), "3145728");
  EXPECT_EQ(judged(Octets(1, 1ULL << 40), "2G"), "2147483648");
  // The last one is 2^64.
  for (const char* value : {"135", "65537", "65K", "K", "1KB", "-1K", "17179869184G"}) {
    EXPECT_EQ(judged(check, value), "'" + std::string(value) +
                                        "' is not a number of octets from 136 to 64K, with K, M or "
                                        "G for powers of 1024");
  }
}

TEST(Octets, AreWrittenWithTheGreatestUnitThatFits) {
  EXPECT_EQ(octets_text(0), "0");
  EXPECT_EQ(octets_text(136), "136");
  EXPECT_EQ(octets_text(1536), "1536");
  EXPECT_EQ(octets_text(65536), "64K");
  EXPECT_EQ(octets_text(1ULL << 30), "1G");
}

TEST(Interfaces, AreThoseOfTheHost) {
  const Interfaces check;
  EXPECT_EQ(judged(check, "lo"), "lo");
  EXPECT_EQ(judged(check, "lo,lo"), "lo,lo");
  EXPECT_EQ(judged(check, "lo,nothere"), "'nothere' is no network interface");
  EXPECT_EQ(judged(check, ",lo"), "'' is no network interface");
  EXPECT_EQ(judged(check, ""), "no interface is named");
}

TEST(Directory, IsThere) {
  EXPECT_EQ(judged(Directory(), "/"), "/");
  EXPECT_EQ(judged(Directory(), "/dev/null"), "'/dev/null' is not a directory");
  EXPECT_EQ(judged(Directory(), "/nowhere"), "'/nowhere': No such file or directory");
}

TEST(Alternatives, AreReadAloud) {
  EXPECT_EQ(alternatives({"a"}), "a");
  EXPECT_EQ(alternatives({"a", "b"}), "a or b");
  EXPECT_EQ(alternatives({"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace iwarp::cli
