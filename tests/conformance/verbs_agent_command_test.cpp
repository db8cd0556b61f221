#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "agent/verbs_agent/command.h"
}

/// The lines of the agent in C. That of our own stack has to take and refuse the same ones.
namespace {

/// A command and the line that it refers to.
struct Parsed {
  explicit Parsed(const std::string& text) : line(text.begin(), text.end()) {
    line.push_back('\0');
    good = parse_command(&it, line.data(), text.size());
  }
  std::vector<char> line;
  command it{};
  bool good = false;
};

TEST(VerbsAgentCommand, HasAWordAndPairsInAnyOrder) {
  Parsed parsed("post op=send id=12 address=0xfFfFfFfFfFfFfFfF private=00fFa0 none=-");
  ASSERT_TRUE(parsed.good);
  EXPECT_STREQ(parsed.it.word, "post");
  EXPECT_STREQ(value_of(&parsed.it, "op"), "send");
  EXPECT_EQ(value_of(&parsed.it, "offset"), nullptr);
  std::uint64_t value = 0;
  EXPECT_TRUE(read_number(&parsed.it, "id", 12, &value));
  EXPECT_EQ(value, 12U);
  EXPECT_TRUE(read_hex(&parsed.it, "address", UINT64_MAX, &value));
  EXPECT_EQ(value, UINT64_MAX);
  unsigned char octets[3] = {};
  std::size_t size = 9;
  EXPECT_TRUE(read_octets(&parsed.it, "private", octets, sizeof octets, &size));
  EXPECT_EQ(size, 3U);
  EXPECT_EQ(std::memcmp(octets, "\x00\xFF\xA0", 3), 0);
  EXPECT_TRUE(read_octets(&parsed.it, "none", octets, sizeof octets, &size));
  EXPECT_EQ(size, 0U);
}

TEST(VerbsAgentCommand, RefusesLinesThatAreNone) {
  for (const std::string& line :
       {std::string(), std::string(" "), std::string(" reset"), std::string("reset "),
        std::string("reset  a=1"), std::string("reset a"), std::string("reset =1"),
        std::string("reset a=1 a=2"), std::string("reset\r"), std::string("reset a=\x7f"),
        std::string("reset a=\xc3\xa4"), std::string("reset\0", 6)}) {
    const Parsed parsed(line);
    EXPECT_FALSE(parsed.good) << line;
    EXPECT_EQ(parsed.it.code, EINVAL) << line;
  }
}

TEST(VerbsAgentCommand, RefusesMorePairsThanAnyCommandHas) {
  std::string line = "reset";
  for (int i = 0; i < MOST_PAIRS; ++i) line += " a" + std::to_string(i) + "=";
  EXPECT_TRUE(Parsed(line).good);
  EXPECT_FALSE(Parsed(line + " b=").good);
}

TEST(VerbsAgentCommand, RefusesPairsThatAreMissingOrUnknown) {
  Parsed parsed("fetch region=1 offset=2");
  EXPECT_TRUE(check_pairs(&parsed.it, "region offset", ""));
  EXPECT_TRUE(check_pairs(&parsed.it, "region", "length offset"));
  EXPECT_FALSE(check_pairs(&parsed.it, "region offset length", ""));
  EXPECT_STREQ(parsed.it.text, "fetch lacks the pair length");
  EXPECT_FALSE(check_pairs(&parsed.it, "region", "off offsets"));
  EXPECT_STREQ(parsed.it.text, "fetch has no pair 'offset'");
}

TEST(VerbsAgentCommand, RefusesWhatIsNoNumber) {
  std::uint64_t value = 0;
  for (const char* text : {"", "-1", "+1", " 1", "0x1", "1a", "256", "18446744073709551616"}) {
    Parsed parsed("x n=" + std::string(text));
    EXPECT_FALSE(read_number(&parsed.it, "n", 255, &value)) << text;
  }
  for (const char* text : {"", "0x", "1", "0xg", "0x-1", "0x100", "0x10000000000000000"}) {
    Parsed parsed("x n=" + std::string(text));
    EXPECT_FALSE(read_hex(&parsed.it, "n", 255, &value)) << text;
  }
  Parsed parsed("x n=1");
  value = 7;
  EXPECT_FALSE(read_number(&parsed.it, "m", 255, &value));
  EXPECT_TRUE(read_optional_number(&parsed.it, "m", 255, &value));
  EXPECT_EQ(value, 7U);
}

TEST(VerbsAgentCommand, RefusesWhatAreNoOctetsOrTooMany) {
  unsigned char octets[2] = {};
  std::size_t size = 0;
  for (const char* text : {"", "0", "000", "0g", "--", "0x00", "010203"}) {
    Parsed parsed("x n=" + std::string(text));
    EXPECT_FALSE(read_octets(&parsed.it, "n", octets, sizeof octets, &size)) << text;
  }
}

TEST(VerbsAgentAnswer, IsWrittenAsTheProtocolSays) {
  static answer reply;
  begin_answer(&reply);
  answer_number(&reply, "port", 65535);
  answer_stag(&reply, "stag", 0xA1);
  answer_address(&reply, "address", 0xABCDEF);
  const unsigned char octets[] = {0x0A, 0xF1};
  answer_octets(&reply, "data", octets, 2);
  answer_octets(&reply, "private", octets, 0);
  EXPECT_STREQ(reply.line,
               "ok port=65535 stag=0x000000a1 address=0x0000000000abcdef data=0af1 private=-");
  answer_error(&reply, EOPNOTSUPP, "none of that");
  EXPECT_STREQ(reply.line, "error EOPNOTSUPP none of that");
  answer_error(&reply, EXDEV, "unusual");
  EXPECT_STREQ(reply.line, "error EIO unusual");
}

TEST(VerbsAgentAnswer, HoldsTheLongestFetchAndNeverMoreThanALine) {
  static answer reply;
  const std::vector<unsigned char> data(PROTOCOL_LONGEST_LINE, 0xEE);
  begin_answer(&reply);
  answer_octets(&reply, "data", data.data(), PROTOCOL_MOST_OCTETS);
  EXPECT_EQ(reply.size, std::strlen("ok data=") + 2 * PROTOCOL_MOST_OCTETS);
  EXPECT_EQ(std::strlen(reply.line), reply.size);
  answer_octets(&reply, "more", data.data(), data.size());
  EXPECT_LE(reply.size, std::size_t{PROTOCOL_LONGEST_LINE});
  EXPECT_EQ(std::strlen(reply.line), reply.size);
}

}  // namespace
