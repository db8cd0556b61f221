#include "iwarp/ddp/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iwarp::ddp {
namespace {

struct Row {
  Error error;
  ErrorNumber number;
};

// RFC 5041 §7.2, and what has no number of its own there.
constexpr Row kRows[] = {
    {Error::kTruncatedHeader, {0x0, 0x00}},    {Error::kInvalidStag, {0x1, 0x00}},
    {Error::kBoundsViolation, {0x1, 0x01}},    {Error::kStagNotAssociated, {0x1, 0x02}},
    {Error::kTaggedOffsetWrap, {0x1, 0x03}},   {Error::kTaggedVersion, {0x1, 0x04}},
    {Error::kInvalidQueueNumber, {0x2, 0x01}}, {Error::kNoBuffer, {0x2, 0x02}},
    {Error::kMsnOutOfRange, {0x2, 0x03}},      {Error::kInvalidMessageOffset, {0x2, 0x04}},
    {Error::kMessageTooLong, {0x2, 0x05}},     {Error::kUntaggedVersion, {0x2, 0x06}},
    {Error::kAccessViolation, {0x1, 0x00}},    {Error::kMemoryFault, {0x0, 0x00}},
};

TEST(DdpErrorNumber, IsTheOneOfRfc5041Section72) {
  for (const Row& row : kRows) {
    EXPECT_EQ(error_number(row.error).type, row.number.type) << describe(row.error);
    EXPECT_EQ(error_number(row.error).code, row.number.code) << describe(row.error);
  }
}

TEST(DdpError, HasAPhraseOfItsOwn) {
  std::set<std::string> phrases;
  for (const Row& row : kRows) phrases.insert(describe(row.error));
  EXPECT_EQ(phrases.size(), std::size(kRows));
  EXPECT_FALSE(phrases.contains("unknown"));
}

TEST(DdpError, OutsideOfTheListIsLocalCatastrophic) {
  EXPECT_EQ(error_number(static_cast<Error>(0xFF)), (ErrorNumber{0, 0}));
  EXPECT_STREQ(describe(static_cast<Error>(0xFF)), "unknown");
}

}  // namespace
}  // namespace iwarp::ddp
