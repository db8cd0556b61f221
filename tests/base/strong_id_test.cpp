#include "iwarp/base/strong_id.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

namespace iwarp {
namespace {

TEST(StrongId, DoesNotMixWithIntegersOrOtherNames) {
  static_assert(!std::is_convertible_v<std::uint32_t, Stag>);
  static_assert(!std::is_convertible_v<Stag, std::uint32_t>);
  static_assert(!std::is_constructible_v<Stag, Msn>);
  static_assert(sizeof(Stag) == sizeof(std::uint32_t));
  static_assert(sizeof(TaggedOffset) == sizeof(std::uint64_t));
}

TEST(StrongId, ComparesAndHashesAsItsNumber) {
  EXPECT_EQ(Stag{7}, Stag{7});
  EXPECT_LT(TaggedOffset{7}, TaggedOffset{8});
  EXPECT_EQ(Msn{}.value(), 0U);
  const std::unordered_set<Stag> set{Stag{1}, Stag{2}, Stag{1}};
  EXPECT_EQ(set.size(), 2U);
}

TEST(NextMsn, WrapsToZeroAfterTheGreatest) {  // RFC 5041 §4.3
  EXPECT_EQ(next(Msn{1}), Msn{2});
  EXPECT_EQ(next(Msn{0xFFFFFFFFU}), Msn{0});
}

}  // namespace
}  // namespace iwarp
