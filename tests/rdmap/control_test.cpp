#include "iwarp/rdmap/control.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iwarp::rdmap {
namespace {

TEST(RdmapControl, CarriesVersionOneAndTheOpcode) {  // RFC 5040 §4.1, Figure 3
  EXPECT_EQ(encode_control(Opcode::kWrite), 0x40);
  EXPECT_EQ(encode_control(Opcode::kReadRequest), 0x41);
  EXPECT_EQ(encode_control(Opcode::kReadResponse), 0x42);
  EXPECT_EQ(encode_control(Opcode::kSend), 0x43);
  EXPECT_EQ(encode_control(Opcode::kSendInvalidate), 0x44);
  EXPECT_EQ(encode_control(Opcode::kSendSolicited), 0x45);
  EXPECT_EQ(encode_control(Opcode::kSendSolicitedInvalidate), 0x46);
  EXPECT_EQ(encode_control(Opcode::kTerminate), 0x47);
  EXPECT_EQ(encode_control(Opcode::kImmediate), 0x48);  // RFC 7306 §4.1, Figure 2
  EXPECT_EQ(encode_control(Opcode::kImmediateSolicited), 0x49);
  EXPECT_EQ(encode_control(Opcode::kAtomicRequest), 0x4A);
  EXPECT_EQ(encode_control(Opcode::kAtomicResponse), 0x4B);
}

TEST(RdmapControl, IgnoresItsReservedBits) {
  for (unsigned octet = 0; octet < 256; ++octet) {
    const Control control = decode_control(static_cast<std::uint8_t>(octet));
    EXPECT_EQ(control.version, octet >> 6U);
    EXPECT_EQ(control.opcode, octet & 0xFU);
  }
}

struct OpcodeRow {
  Opcode opcode;
  BufferModel model;
  std::uint32_t qn;
  bool solicited, invalidates;
};

TEST(OpcodeTraits, AreThoseOfRfc5040Figure4AndRfc7306Figure2) {
  constexpr auto kTagged = BufferModel::kTagged;
  constexpr auto kUntagged = BufferModel::kUntagged;
  constexpr OpcodeRow kRows[] = {
      {Opcode::kWrite, kTagged, 0, false, false},
      {Opcode::kReadRequest, kUntagged, 1, false, false},
      {Opcode::kReadResponse, kTagged, 0, false, false},
      {Opcode::kSend, kUntagged, 0, false, false},
      {Opcode::kSendInvalidate, kUntagged, 0, false, true},
      {Opcode::kSendSolicited, kUntagged, 0, true, false},
      {Opcode::kSendSolicitedInvalidate, kUntagged, 0, true, true},
      {Opcode::kTerminate, kUntagged, 2, false, false},
      {Opcode::kImmediate, kUntagged, 0, false, false},
      {Opcode::kImmediateSolicited, kUntagged, 0, true, false},
      {Opcode::kAtomicRequest, kUntagged, 1, false, false},
      {Opcode::kAtomicResponse, kUntagged, 3, false, false},
  };
  std::set<std::string> names;
  for (const OpcodeRow& row : kRows) {
    const OpcodeTraits& actual = traits(row.opcode);
    names.insert(actual.name);
    EXPECT_EQ(actual.model, row.model) << actual.name;
    EXPECT_EQ(actual.qn, QueueNumber{row.qn}) << actual.name;
    EXPECT_EQ(actual.solicited, row.solicited) << actual.name;
    EXPECT_EQ(actual.invalidates, row.invalidates) << actual.name;
  }
  EXPECT_EQ(names.size(), std::size(kRows));
}

TEST(OpcodeTraits, OfRfc7306ExistOnlyWithTheExtensions) {
  for (std::uint8_t opcode = 0; opcode < 12; ++opcode) {
    EXPECT_EQ(traits(opcode, Extensions::kNone) != nullptr, opcode < 8) << unsigned{opcode};
  }
}

TEST(OpcodeTraits, DoNotExistForReservedOpcodes) {
  for (unsigned opcode = 12; opcode < 256; ++opcode) {
    EXPECT_EQ(traits(static_cast<std::uint8_t>(opcode)), nullptr) << opcode;
  }
}

}  // namespace
}  // namespace iwarp::rdmap
