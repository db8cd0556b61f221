#include "iwarp/rdmap/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/rdmap_fixture.hpp"

namespace iwarp::rdmap {
namespace {

// RFC 5040 Figure 9, layer RDMA.
TEST(CauseOfRdmapError, IsTheOneOfRfc5040Figure9) {
  EXPECT_EQ(cause_of(Error::kLocalCatastrophic), (Cause{Layer::kRdmap, 0, 0x00}));
  EXPECT_EQ(cause_of(Error::kInvalidStag), (Cause{Layer::kRdmap, 1, 0x00}));
  EXPECT_EQ(cause_of(Error::kBoundsViolation), (Cause{Layer::kRdmap, 1, 0x01}));
  EXPECT_EQ(cause_of(Error::kAccessViolation), (Cause{Layer::kRdmap, 1, 0x02}));
  EXPECT_EQ(cause_of(Error::kStagNotAssociated), (Cause{Layer::kRdmap, 1, 0x03}));
  EXPECT_EQ(cause_of(Error::kTaggedOffsetWrap), (Cause{Layer::kRdmap, 1, 0x04}));
  EXPECT_EQ(cause_of(Error::kCannotInvalidate), (Cause{Layer::kRdmap, 1, 0x09}));
  EXPECT_EQ(cause_of(Error::kUnspecifiedProtection), (Cause{Layer::kRdmap, 1, 0xFF}));
  EXPECT_EQ(cause_of(Error::kInvalidVersion), (Cause{Layer::kRdmap, 2, 0x05}));
  EXPECT_EQ(cause_of(Error::kUnexpectedOpcode), (Cause{Layer::kRdmap, 2, 0x06}));
  EXPECT_EQ(cause_of(Error::kStreamCatastrophic), (Cause{Layer::kRdmap, 2, 0x07}));
  EXPECT_EQ(cause_of(Error::kUnspecifiedOperation), (Cause{Layer::kRdmap, 2, 0xFF}));
  EXPECT_EQ(cause_of(static_cast<Error>(0xEE)), (Cause{Layer::kRdmap, 2, 0xFF}));
}

// RFC 5041 §7.2 under layer 1.
TEST(CauseOfDdpError, IsTheOneOfRfc5041Section72) {
  EXPECT_EQ(cause_of(ddp::Error::kTruncatedHeader), (Cause{Layer::kDdp, 0, 0x00}));
  EXPECT_EQ(cause_of(ddp::Error::kInvalidStag), (Cause{Layer::kDdp, 1, 0x00}));
  EXPECT_EQ(cause_of(ddp::Error::kBoundsViolation), (Cause{Layer::kDdp, 1, 0x01}));
  EXPECT_EQ(cause_of(ddp::Error::kStagNotAssociated), (Cause{Layer::kDdp, 1, 0x02}));
  EXPECT_EQ(cause_of(ddp::Error::kTaggedOffsetWrap), (Cause{Layer::kDdp, 1, 0x03}));
  EXPECT_EQ(cause_of(ddp::Error::kTaggedVersion), (Cause{Layer::kDdp, 1, 0x04}));
  EXPECT_EQ(cause_of(ddp::Error::kInvalidQueueNumber), (Cause{Layer::kDdp, 2, 0x01}));
  EXPECT_EQ(cause_of(ddp::Error::kNoBuffer), (Cause{Layer::kDdp, 2, 0x02}));
  EXPECT_EQ(cause_of(ddp::Error::kMsnOutOfRange), (Cause{Layer::kDdp, 2, 0x03}));
  EXPECT_EQ(cause_of(ddp::Error::kInvalidMessageOffset), (Cause{Layer::kDdp, 2, 0x04}));
  EXPECT_EQ(cause_of(ddp::Error::kMessageTooLong), (Cause{Layer::kDdp, 2, 0x05}));
  EXPECT_EQ(cause_of(ddp::Error::kUntaggedVersion), (Cause{Layer::kDdp, 2, 0x06}));
}

TEST(CauseOfLlpError, HasErrorTypeZero) {  // RFC 5044 §8, RFC 6581 §8
  for (std::uint8_t code = 1; code <= 7; ++code) {
    EXPECT_EQ(cause_of_llp(code), (Cause{Layer::kLlp, 0, code}));
  }
}

TEST(ProtectionError, HasAnRdmapErrorForEachReasonOfALookUp) {
  EXPECT_EQ(protection_error(ddp::Error::kInvalidStag), Error::kInvalidStag);
  EXPECT_EQ(protection_error(ddp::Error::kBoundsViolation), Error::kBoundsViolation);
  EXPECT_EQ(protection_error(ddp::Error::kAccessViolation), Error::kAccessViolation);
  EXPECT_EQ(protection_error(ddp::Error::kStagNotAssociated), Error::kStagNotAssociated);
  EXPECT_EQ(protection_error(ddp::Error::kTaggedOffsetWrap), Error::kTaggedOffsetWrap);
  EXPECT_EQ(protection_error(ddp::Error::kNoBuffer), Error::kUnspecifiedProtection);
}

TEST(DescribeCause, HasAPhraseForEveryCauseOfTheRfcs) {
  std::set<std::string> phrases;
  unsigned known = 0;
  for (std::uint8_t layer = 0; layer < 4; ++layer) {
    for (std::uint8_t type = 0; type < 4; ++type) {
      for (unsigned code = 0; code < 256; ++code) {
        const std::string phrase =
            describe({static_cast<Layer>(layer), type, static_cast<std::uint8_t>(code)});
        if (phrase == "unknown error") continue;
        ++known;
        phrases.insert(phrase);
      }
    }
  }
  // RDMAP: any code of the local type, 7 of protection, 6 of operation; DDP 1 + 5 + 6; MPA 7.
  EXPECT_EQ(known, 256U + 7 + 6 + 12 + 7);
  // The two causes "cannot be invalidated" are called alike, and the local ones too.
  EXPECT_EQ(phrases.size(), known - 255 - 1);
}

}  // namespace
}  // namespace iwarp::rdmap
