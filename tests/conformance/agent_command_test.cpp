#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ios>

#include "agent/command.hpp"
#include "agent/patience.hpp"

namespace iwarp::agent {
namespace {

/// What refuses `call`; empty if nothing does.
template <typename Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const CommandError& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    return error.what();
  }
  return {};
}

TEST(AgentCommand, HasAWordAndPairsInAnyOrder) {
  const Command command("post op=send id=12 address=0xfFfFfFfFfFfFfFfF private=00fFa0 none=-");
  EXPECT_EQ(command.word(), "post");
  EXPECT_EQ(command.text("op"), "send");
  EXPECT_EQ(command.number("id"), 12U);
  EXPECT_EQ(command.hex("address"), UINT64_MAX);
  EXPECT_THAT(command.octets("private"),
              ::testing::ElementsAre(std::byte{0}, std::byte{0xFF}, std::byte{0xA0}));
  EXPECT_TRUE(command.octets("none").empty());
  EXPECT_FALSE(command.has("offset"));
}

TEST(AgentCommand, RefusesLinesThatAreNone) {
  for (const char* line : {"", " ", " reset", "reset ", "reset  a=1", "reset a", "reset =1",
                           "reset a=1 a=2", "reset\r", "reset a=\x7f", "reset a=\xc3\xa4"}) {
    EXPECT_NE(refusal_of([&] { Command{line}; }), "") << line;
  }
  EXPECT_NE(refusal_of([] { Command{std::string_view("reset\0", 6)}; }), "");
}

TEST(AgentCommand, RefusesPairsThatAreMissingOrUnknown) {
  const Command command("fetch region=1 offset=2");
  EXPECT_EQ(refusal_of([&] { command.check("region offset"); }), "");
  EXPECT_EQ(refusal_of([&] { command.check("region", "length offset"); }), "");
  EXPECT_EQ(refusal_of([&] { command.check("region offset length"); }),
            "fetch lacks the pair length");
  EXPECT_EQ(refusal_of([&] { command.check("region"); }), "fetch has no pair 'offset'");
}

TEST(AgentCommand, RefusesWhatIsNoDecimalNumber) {
  for (const char* value : {"", "-1", "+1", "0x1", "1a", "18446744073709551616"}) {
    const Command command("x n=" + std::string(value));
    EXPECT_NE(refusal_of([&] { (void)command.number("n"); }), "") << value;
  }
  const Command command("x n=256");
  EXPECT_EQ(refusal_of([&] { (void)command.number("n", 256); }), "");
  EXPECT_NE(refusal_of([&] { (void)command.number("n", 255); }), "");
}

TEST(AgentCommand, RefusesWhatIsNoHexadecimalNumber) {
  for (const char* value : {"", "0x", "1", "0xg", "0x-1", "0x10000000000000000"}) {
    const Command command("x n=" + std::string(value));
    EXPECT_NE(refusal_of([&] { (void)command.hex("n"); }), "") << value;
  }
  EXPECT_NE(refusal_of([] { (void)Command("x n=0x100000000").stag("n"); }), "");
}

TEST(AgentCommand, RefusesWhatAreNoOctets) {
  for (const char* value : {"", "0", "000", "0g", "--", "0x00"}) {
    const Command command("x n=" + std::string(value));
    EXPECT_NE(refusal_of([&] { (void)command.octets("n"); }), "") << value;
  }
}

TEST(AgentReply, IsWrittenAsTheProtocolSays) {
  const std::array octets{std::byte{0x0A}, std::byte{0xF1}};
  Reply reply;
  reply.number("port", 65535).stag("stag", Stag{0xA1}).address("address", 0xABCDEF);
  reply.octets("data", octets).octets("private", {});
  EXPECT_EQ(reply.line(),
            "ok port=65535 stag=0x000000a1 address=0x0000000000abcdef data=0af1 private=-");
}

TEST(AgentReply, ErrorsHaveTheNameOfTheErrnoAndStayOnOneLine) {
  using std::errc;
  EXPECT_EQ(error_line(std::make_error_code(errc::timed_out), "none\ncame"),
            "error ETIMEDOUT none?came");
  EXPECT_EQ(error_line(std::make_error_code(errc::operation_not_supported), "x"),
            "error EOPNOTSUPP x");
  EXPECT_EQ(error_line({ECONNREFUSED, std::system_category()}, "x"), "error ECONNREFUSED x");
  EXPECT_EQ(error_line(std::make_error_code(std::io_errc::stream), "x"), "error EIO x");
}

TEST(AgentPatience, EndsWithTheFirstThingThatComes) {
  int tries = 0;
  const auto third = [&](std::chrono::milliseconds) -> std::optional<int> {
    if (++tries < 3) return std::nullopt;
    return tries;
  };
  EXPECT_EQ(wait_in_slices(
                std::chrono::hours(1), [] { return true; }, third),
            3);
}

TEST(AgentPatience, EndsWhenTheTesterHasGone) {
  int tries = 0;
  const auto nothing = [&](std::chrono::milliseconds) -> std::optional<int> {
    ++tries;
    return std::nullopt;
  };
  EXPECT_EQ(wait_in_slices(
                std::chrono::hours(1), [&] { return tries < 2; }, nothing),
            std::nullopt);
  EXPECT_EQ(tries, 2);
}

TEST(AgentPatience, LooksOnceWithoutTime) {
  int tries = 0;
  const auto nothing = [&](std::chrono::milliseconds) -> std::optional<int> {
    ++tries;
    return std::nullopt;
  };
  EXPECT_EQ(wait_in_slices(
                std::chrono::milliseconds(0), [] { return true; }, nothing),
            std::nullopt);
  EXPECT_EQ(tries, 1);
}

}  // namespace
}  // namespace iwarp::agent
