#include "json_output.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli {
namespace {

std::string printed(const nlohmann::json& value) {
  testing::internal::CaptureStdout();
  print_json(value);
  return testing::internal::GetCapturedStdout();
}

TEST(JsonOutput, SteersNoTerminalAndSaysTheSame) {
  const nlohmann::json value = {{"name", "\x1B[2J\n\x7F \xC2\x9B \xC3\xA4"}};
  const std::string text = printed(value);
  EXPECT_EQ(text, "{\n  \"name\": \"\\u001b[2J\\n\\u007f \\u009b \xC3\xA4\"\n}\n");
  EXPECT_EQ(nlohmann::json::parse(text), value);
}

TEST(JsonOutput, IsJsonWhateverANameIs) {
  EXPECT_EQ(nlohmann::json::parse(printed({{"name", "a\xFF"}})).at("name"), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace iwarp::cli
