#include "help/option_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "help/checks.hpp"

namespace iwarp::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OptionValuesTest : public testing::Test {
 protected:
  CLI::App app_;
  std::string text_;
  int number_ = 7;
  bool flag_ = false;
};

TEST_F(OptionValuesTest, AreTheWordsOfTheCheck) {
  auto& option = *app_.add_option("--op", text_, "What")->transform(OneOf({"write", "read"}));
  EXPECT_EQ(values_of(option).name, "WORD");
  EXPECT_THAT(values_of(option).words, ElementsAre("write", "read"));
  EXPECT_EQ(explanation_of(option), "What. One of write, read.");
  option.description("write, or read");
  EXPECT_EQ(explanation_of(option), "write, or read.");
}

TEST_F(OptionValuesTest, AreTheRangeOfTheCheck) {
  auto& option =
      *app_.add_option("--n", number_, "How many")->transform(Within(1, 9))->capture_default_str();
  EXPECT_EQ(values_of(option).name, "N");
  EXPECT_EQ(explanation_of(option), "How many. From 1 to 9. Default: 7.");
  auto& octets = *app_.add_option("--size", number_, "Size")
                      ->transform(Octets(1, 1 << 20))
                      ->type_name("HOST:PORT");
  EXPECT_EQ(values_of(octets).name, "HOST:PORT");
  EXPECT_EQ(values_of(octets).least, "1");
  EXPECT_EQ(values_of(octets).greatest, "1M");
}

TEST_F(OptionValuesTest, HaveTheNameThatTheOptionGivesThem) {
  EXPECT_EQ(values_of(*app_.add_option("--at", text_)->type_name("HOST:PORT")).name, "HOST:PORT");
  EXPECT_EQ(values_of(*app_.add_option("--to", text_)->option_text("DIR")).name, "DIR");
  EXPECT_EQ(values_of(*app_.add_option("--as", text_)).name, "TEXT");
}

TEST_F(OptionValuesTest, AreNoneOfAFlag) {
  const auto& flag = *app_.add_flag("-f,--flag", flag_, "Do.");
  EXPECT_EQ(values_of(flag).name, "");
  EXPECT_THAT(values_of(flag).words, IsEmpty());
  EXPECT_THAT(names_of(flag), ElementsAre("-f", "--flag"));
  EXPECT_EQ(explanation_of(flag), "Do.");
}

TEST_F(OptionValuesTest, OfAnArgumentAreCalledAsItIs) {
  const auto& argument = *app_.add_option("FILE", text_);
  EXPECT_THAT(names_of(argument), ElementsAre("FILE"));
  EXPECT_EQ(values_of(argument).name, "FILE");
}

}  // namespace
}  // namespace iwarp::cli
