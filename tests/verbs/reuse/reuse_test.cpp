#include <gtest/gtest.h>

#include "verbs/reuse/names.hpp"

namespace iwarp::verbs::reuse {
namespace {

class Reuse : public testing::TestWithParam<std::uint64_t> {};

// tests/verbs/reuse does it with a million of them.
TEST_P(Reuse, OpensNothingToAPeerThatKeepsEveryName) {
  Names names(GetParam());
  while (names.known() < 20'000 && names.complaint().empty()) names.step();
  EXPECT_EQ(names.complaint(), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, Reuse, testing::Range(std::uint64_t{1}, std::uint64_t{9}));

}  // namespace
}  // namespace iwarp::verbs::reuse
