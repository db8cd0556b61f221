#include <gtest/gtest.h>

#include <array>

#include "ddp/domain.hpp"
#include "iwarp/ddp/stag_table.hpp"

namespace iwarp::ddp {
namespace {

class StagInvalidate : public testing::Test {
 protected:
  Stag enable(Rights rights, std::uint64_t base = 0) {
    return table_.enable({memory_.data(), TaggedOffset{base}, memory_.size(), kPd, rights}).value();
  }
  bool in_force(Stag stag, std::uint64_t base = 0) {
    return table_.pin(stag, kPd, Rights::kNone, TaggedOffset{base}, 1).has_value();
  }

  std::array<std::byte, 16> memory_{};
  StagTable table_{1};
};

TEST_F(StagInvalidate, EndsAnStagThatIsOpenToIt) {
  const Stag stag = enable(Rights::kRemoteInvalidate | Rights::kRemoteRead);
  EXPECT_TRUE(table_.invalidate_for_peer(stag, kPd));
  EXPECT_FALSE(in_force(stag));
  EXPECT_TRUE(table_.idle(stag));
}

TEST_F(StagInvalidate, IsPossibleWhereverTheBufferStarts) {
  const Stag stag = enable(Rights::kRemoteInvalidate, 0x7F0000001000);
  EXPECT_TRUE(table_.invalidate_for_peer(stag, kPd));
  EXPECT_FALSE(in_force(stag, 0x7F0000001000));
}

TEST_F(StagInvalidate, IsRefusedForAStrangersStag) {
  const Stag stag = enable(Rights::kRemoteInvalidate);
  const auto result = table_.invalidate_for_peer(stag, ProtectionDomainId{4});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), Error::kStagNotAssociated);
  EXPECT_TRUE(in_force(stag));
}

TEST_F(StagInvalidate, IsRefusedForAnStagThatIsNotOpenToIt) {
  const Stag stag = enable(Rights::kRemoteWrite | Rights::kRemoteRead | Rights::kLocalWrite);
  EXPECT_EQ(table_.invalidate_for_peer(stag, kPd).error(), Error::kAccessViolation);
  EXPECT_TRUE(in_force(stag));
}

TEST_F(StagInvalidate, IsRefusedForAnUnknownStag) {
  const Stag stag = enable(Rights::kRemoteInvalidate);
  EXPECT_EQ(table_.invalidate_for_peer(Stag{stag.value() ^ 1U}, kPd).error(), Error::kInvalidStag);
  EXPECT_EQ(table_.invalidate_for_peer(Stag{0}, kPd).error(), Error::kInvalidStag);
  EXPECT_TRUE(table_.invalidate_for_peer(stag, kPd));
  EXPECT_EQ(table_.invalidate_for_peer(stag, kPd).error(), Error::kInvalidStag);
}

TEST_F(StagInvalidate, LetsPinsThatExistGoOn) {
  const Stag stag = enable(Rights::kRemoteInvalidate);
  const auto held = table_.pin(stag, kPd, Rights::kNone, TaggedOffset{0}, 1);
  EXPECT_TRUE(table_.invalidate_for_peer(stag, kPd));
  EXPECT_EQ(held->memory(), memory_.data());
  EXPECT_FALSE(table_.idle(stag));
}

}  // namespace
}  // namespace iwarp::ddp
