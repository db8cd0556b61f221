#include "iwarp/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace iwarp {
namespace {

enum class Error { kOne, kTwo };

Result<int, Error> half(int n) {
  if (n % 2 != 0) return failure(Error::kTwo);
  return n / 2;
}

Result<void, Error> even(int n) {
  if (n % 2 != 0) return failure(Error::kOne);
  return {};
}

TEST(Result, HoldsAValue) {
  const auto result = half(10);
  ASSERT_TRUE(result.has_value());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, 5);
  EXPECT_EQ(result.value(), 5);
}

TEST(Result, HoldsAnError) {
  const auto result = half(9);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error::kTwo);
}

TEST(Result, ThrowsForTheWrongOneOfTheTwo) {
  EXPECT_THROW((void)half(9).value(), std::bad_variant_access);
  EXPECT_THROW((void)half(10).error(), std::bad_variant_access);
  EXPECT_ANY_THROW((void)even(2).error());
}

TEST(Result, OfVoidIsSuccessOrAnError) {
  EXPECT_TRUE(even(2).has_value());
  ASSERT_FALSE(even(3));
  EXPECT_EQ(even(3).error(), Error::kOne);
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>, Error> result(std::make_unique<int>(3));
  EXPECT_EQ(**result, 3);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Result, GivesAccessToMembers) {
  Result<std::string, Error> result(std::string("four"));
  EXPECT_EQ(result->size(), 4U);
  result->push_back('!');
  EXPECT_EQ(*result, "four!");
}

TEST(Result, TellsValueAndErrorOfOneTypeApart) {
  const Result<int, int> good(7);
  const Result<int, int> bad = failure(7);
  EXPECT_TRUE(good);
  EXPECT_FALSE(bad);
}

TEST(Result, ConvertsTheErrorOfAFailure) {
  const Result<int, std::string> result = failure("why");
  EXPECT_EQ(result.error(), "why");
}

}  // namespace
}  // namespace iwarp
