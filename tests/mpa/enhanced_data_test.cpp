#include "iwarp/mpa/enhanced_data.hpp"

#include <gtest/gtest.h>

#include "mpa/helpers.hpp"

namespace iwarp::mpa::test {
namespace {

EnhancedData parse(const Bytes& bytes) {
  return EnhancedData::parse(std::span<const std::byte, kEnhancedDataSize>(bytes.data(), 4));
}

Bytes encode(const EnhancedData& data) {
  const auto bytes = data.encode();
  return {bytes.begin(), bytes.end()};
}

TEST(EnhancedData, EveryCombinationSurvivesTheWire) {
  for (unsigned flags = 0; flags < 8; ++flags) {
    for (unsigned depth : {0U, 1U, 0x1234U, 0x3FFEU, 0x3FFFU}) {
      EnhancedData data;
      data.model = ConnectionModel::kPeerToPeer;
      if ((flags & 1U) != 0) data.rtr.insert(Rtr::kSend);
      if ((flags & 2U) != 0) data.rtr.insert(Rtr::kWrite);
      if ((flags & 4U) != 0) data.rtr.insert(Rtr::kRead);
      data.ird = ReadDepth::from_wire(static_cast<std::uint16_t>(depth));
      data.ord = ReadDepth(7);
      EXPECT_EQ(parse(encode(data)), data);
      std::swap(data.ird, data.ord);
      EXPECT_EQ(parse(encode(data)), data);
    }
  }
}

TEST(EnhancedData, FlagsStandWhereTheRfcPutsThem) {
  EnhancedData data{ConnectionModel::kPeerToPeer, {}, ReadDepth(0), ReadDepth(0)};
  EXPECT_EQ(encode(data), from_hex("8000 0000"));
  data.rtr = {Rtr::kSend};
  EXPECT_EQ(encode(data), from_hex("c000 0000"));
  data.rtr = {Rtr::kWrite};
  EXPECT_EQ(encode(data), from_hex("8000 8000"));
  data.rtr = {Rtr::kRead};
  EXPECT_EQ(encode(data), from_hex("8000 4000"));
}

TEST(EnhancedData, AllOnesMeansNotStated) {
  EXPECT_EQ(encode({}), from_hex("3fff 3fff"));
  const EnhancedData data = parse(from_hex("3fff 3ffe"));
  EXPECT_FALSE(data.ird.is_stated());
  ASSERT_TRUE(data.ord.is_stated());
  EXPECT_EQ(data.ord.value(), kMaxReadDepth);
}

TEST(EnhancedData, RtrFlagsWithoutPeerToPeerAreIgnored) {
  const EnhancedData data = parse(from_hex("4005 c006"));
  EXPECT_EQ(data.model, ConnectionModel::kClientServer);
  EXPECT_TRUE(data.rtr.empty());
  EXPECT_EQ(data.ird, ReadDepth(5));
  EXPECT_EQ(data.ord, ReadDepth(6));
}

TEST(EnhancedData, RtrFlagsWithoutPeerToPeerAreNotSent) {
  const EnhancedData data{ConnectionModel::kClientServer, RtrSet::all(), ReadDepth(5),
                          ReadDepth(6)};
  EXPECT_EQ(encode(data), from_hex("0005 0006"));
}

TEST(RtrSet, NoneIsInNoSet) {
  EXPECT_FALSE(RtrSet::all().contains(Rtr::kNone));
  EXPECT_TRUE(RtrSet({Rtr::kNone}).empty());
}

}  // namespace
}  // namespace iwarp::mpa::test
