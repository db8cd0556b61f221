#include "iwarp/mpa/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iwarp::mpa {
namespace {

constexpr Error kLast = Error::kWrongState;

TEST(MpaError, CodesOfTheStreamAreThoseOfRfc5044) {
  EXPECT_EQ(terminate_code(Error::kConnectionLost), 1);
  EXPECT_EQ(terminate_code(Error::kTimeout), 1);
  EXPECT_EQ(terminate_code(Error::kCrcMismatch), 2);
  EXPECT_EQ(terminate_code(Error::kMarkerMismatch), 3);
}

TEST(MpaError, EveryBadStartupFrameIsCode4) {
  for (Error error :
       {Error::kTruncated, Error::kBadKey, Error::kBothInitiators, Error::kBothResponders,
        Error::kUnsupportedRevision, Error::kRevisionMismatch, Error::kPrivateDataTooLong,
        Error::kMissingEnhancedData, Error::kUnenhancedReply, Error::kUnexpectedEnhancedReply,
        Error::kUnexpectedOctets}) {
    EXPECT_EQ(terminate_code(error), 4) << describe(error);
  }
}

TEST(MpaError, CodesOfTheEnhancedStartupAreThoseOfRfc6581) {
  EXPECT_EQ(terminate_code(Error::kLocalCatastrophic), 5);
  EXPECT_EQ(terminate_code(Error::kInsufficientIrd), 6);
  EXPECT_EQ(terminate_code(Error::kNoMatchingRtr), 7);
}

TEST(MpaError, EachHasACodeAndADescriptionOfItsOwn) {
  std::set<std::string> seen;
  for (int i = 0; i <= static_cast<int>(kLast); ++i) {
    const auto error = static_cast<Error>(i);
    EXPECT_GE(terminate_code(error), 1);
    EXPECT_LE(terminate_code(error), 7);
    EXPECT_TRUE(seen.insert(describe(error)).second) << describe(error);
  }
  EXPECT_EQ(seen.count("unknown MPA error"), 0U);
}

}  // namespace
}  // namespace iwarp::mpa
