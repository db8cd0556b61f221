#include "text/near_word.hpp"

#include <gtest/gtest.h>

namespace iwarp::cli {
namespace {

TEST(EditDistance, CountsWhatWasMistyped) {
  EXPECT_EQ(edit_distance("put", "put"), 0U);
  EXPECT_EQ(edit_distance("putt", "put"), 1U);
  EXPECT_EQ(edit_distance("pt", "put"), 1U);
  EXPECT_EQ(edit_distance("pat", "put"), 1U);
  EXPECT_EQ(edit_distance("ptu", "put"), 1U);
  EXPECT_EQ(edit_distance("", "put"), 3U);
  EXPECT_EQ(edit_distance("put", ""), 3U);
  EXPECT_EQ(edit_distance("serve", "perf"), 3U);
}

TEST(NearWord, IsTheOneWithTheFewestMistakes) {
  EXPECT_EQ(near_word("wirte", {"write", "read", "send"}), "write");
  EXPECT_EQ(near_word("--jsn", {"-h", "--help", "--json"}), "--json");
  EXPECT_EQ(near_word("-json", {"-h", "--json"}), "--json");
  EXPECT_EQ(near_word("gut", {"put", "get"}), "put");
  EXPECT_EQ(near_word("xyz", {"put", "get"}), std::nullopt);
  EXPECT_EQ(near_word("put", {}), std::nullopt);
}

TEST(NearWord, MayBeTheOnlyOneThatBeginsSo) {
  EXPECT_EQ(near_word("dev", {"devices", "serve"}), "devices");
  EXPECT_EQ(near_word("--log", {"--log-level", "--listen"}), "--log-level");
  EXPECT_EQ(near_word("--l", {"--log-level", "--listen"}), std::nullopt);
  EXPECT_EQ(near_word("--", {"--json"}), std::nullopt);
}

TEST(DidYouMean, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("putt", {"put"}), "; did you mean put?");
  EXPECT_EQ(did_you_mean("frobnicate", {"put"}), "");
}

}  // namespace
}  // namespace iwarp::cli
