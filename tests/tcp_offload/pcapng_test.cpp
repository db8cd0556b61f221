// The octets of a capture file, and the TCP conversation told in it.
#include "capture/pcapng.hpp"

#include <gtest/gtest.h>

#include <array>

#include "capture/transcript.hpp"
#include "tcp_offload/capture_reader.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::capture {
namespace {

using test::carried;
using test::kAck;
using test::kFin;
using test::kPsh;
using test::kRst;
using test::kSyn;
using test::Packet;
using test::packets_of;
using test::pattern;

using File = std::vector<std::byte>;

File octets(std::initializer_list<unsigned> values) {
  File file;
  for (const unsigned value : values) file.push_back(static_cast<std::byte>(value));
  return file;
}

TEST(Pcapng, SectionHeaderNamesVersionOrderAndWriter) {
  File file;
  append_section_header(file);
  EXPECT_EQ(file, octets({0x0A, 0x0D, 0x0D, 0x0A, 44,   0,    0,    0,     // type, length
                          0x4D, 0x3C, 0x2B, 0x1A, 1,    0,    0,    0,     // order, version 1.0
                          0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,  // unknown length
                          4,    0,    5,    0,    'i',  'w',  'a',  'r',   // shb_userappl
                          'p',  0,    0,    0,    0,    0,    0,    0,     // end of options
                          44,   0,    0,    0}));
}

TEST(Pcapng, InterfaceCarriesRawIpTimedInNanoseconds) {
  File file;
  append_interface(file);
  EXPECT_EQ(file, octets({1,   0, 0, 0, 32, 0, 0, 0,  // type, length
                          101, 0, 0, 0, 0,  0, 0, 0,  // LINKTYPE_RAW, no snap length
                          9,   0, 1, 0, 9,  0, 0, 0,  // if_tsresol: 10^-9
                          0,   0, 0, 0, 32, 0, 0, 0}));
}

TEST(Pcapng, PacketIsPaddedTimedAndKnowsItsDirection) {
  File file;
  const MutableBytes place =
      append_packet(file, Direction::kOutbound, WallTime(0x0102030405060708), 5);
  ASSERT_EQ(place.size(), 5U);
  std::fill(place.begin(), place.end(), std::byte{0xAB});
  EXPECT_EQ(file,
            octets({6,  0, 0, 0, 52,   0,    0,    0,  // type, length
                    0,  0, 0, 0, 4,    3,    2,    1,  // interface, time high
                    8,  7, 6, 5, 5,    0,    0,    0,  // time low, captured
                    5,  0, 0, 0, 0xAB, 0xAB, 0xAB, 0xAB, 0xAB, 0, 0, 0, 2, 0, 4, 0,  // epb_flags
                    2,  0, 0, 0, 0,    0,    0,    0,  // outbound; end of options
                    52, 0, 0, 0}));
}

class Conversation : public ::testing::Test {
 protected:
  static Endpoint at(const char* address, unsigned short port) {
    return {boost::asio::ip::make_address(address), port};
  }
  void data(End from, ConstBytes bytes) {
    const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
    told.data(from, {&piece, 1}, bytes.size(), WallTime(7), file);
  }
  static std::vector<unsigned> flags_of(const std::vector<Packet>& packets) {
    std::vector<unsigned> all;
    for (const Packet& packet : packets) all.push_back(packet.flags);
    return all;
  }
  static void expect_good_checksums(const std::vector<Packet>& packets) {
    for (const Packet& packet : packets) EXPECT_TRUE(packet.good_checksums);
  }

  Transcript told{at("192.0.2.1", 4000), at("198.51.100.2", 7471)};
  File file;
};

TEST_F(Conversation, BeginsWithTheHandshakeOfTheOpener) {
  told.open(End::kRemote, WallTime(5), file);
  const auto packets = packets_of(file);
  EXPECT_EQ(flags_of(packets), (std::vector{kSyn, kSyn | kAck, kAck}));
  EXPECT_FALSE(packets[0].outbound);
  EXPECT_TRUE(packets[1].outbound);
  EXPECT_EQ(packets[0].source_port, 7471);
  EXPECT_EQ(packets[0].target_port, 4000);
  EXPECT_EQ(packets[0].time, 5U);
  EXPECT_EQ(packets[2].acknowledgement, packets[1].sequence + 1);
}

TEST_F(Conversation, WhoeverSendsFirstOpensIfNobodyHas) {
  data(End::kRemote, pattern(10));
  const auto packets = packets_of(file);
  EXPECT_EQ(flags_of(packets), (std::vector{kSyn, kSyn | kAck, kAck, kPsh | kAck}));
  EXPECT_FALSE(packets[0].outbound);
}

TEST_F(Conversation, CarriesBothDirectionsInSegmentsThatFitAPacket) {
  const auto there = pattern(200'001, 1);
  const auto back = pattern(65'001, 2);
  data(End::kLocal, there);
  data(End::kRemote, back);
  data(End::kLocal, pattern(1));
  const auto packets = packets_of(file);
  auto all = there;
  all.push_back(pattern(1)[0]);
  EXPECT_EQ(carried(packets, true), all);
  EXPECT_EQ(carried(packets, false), back);
  EXPECT_EQ(packets.size(), 3U + 4U + 2U + 1U);
  expect_good_checksums(packets);
}

TEST_F(Conversation, TakesOnlyTheFirstOctetsOfAGatherList) {
  auto bytes = pattern(100);
  const std::array pieces{iovec{bytes.data(), 3}, iovec{bytes.data(), 0},
                          iovec{bytes.data() + 3, 40}, iovec{bytes.data() + 43, 57}};
  told.data(End::kLocal, pieces, 60, WallTime(1), file);
  bytes.resize(60);
  EXPECT_EQ(carried(packets_of(file), true), bytes);
}

TEST_F(Conversation, EndsEachDirectionOnce) {
  data(End::kLocal, pattern(5));
  told.finish(End::kLocal, WallTime(2), file);
  told.finish(End::kLocal, WallTime(2), file);
  data(End::kLocal, pattern(5));
  data(End::kRemote, pattern(9));
  told.finish(End::kRemote, WallTime(3), file);
  const auto packets = packets_of(file);
  EXPECT_EQ(carried(packets, true), pattern(5));
  EXPECT_EQ(carried(packets, false), pattern(9));
  EXPECT_EQ(flags_of(packets), (std::vector{kSyn, kSyn | kAck, kAck, kPsh | kAck, kFin | kAck,
                                            kPsh | kAck, kFin | kAck}));
}

TEST_F(Conversation, NothingFollowsAReset) {
  data(End::kLocal, pattern(5));
  told.reset(End::kRemote, WallTime(2), file);
  told.reset(End::kLocal, WallTime(2), file);
  told.finish(End::kLocal, WallTime(2), file);
  data(End::kLocal, pattern(5));
  const auto packets = packets_of(file);
  ASSERT_EQ(packets.size(), 5U);
  EXPECT_EQ(packets.back().flags, kRst | kAck);
  EXPECT_FALSE(packets.back().outbound);
}

TEST_F(Conversation, SpeaksIpv6IfEitherEndDoes) {
  const auto bytes = pattern(3);
  const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  for (const char* remote : {"2001:db8::2", "::ffff:192.0.2.2"}) {
    Transcript mixed(at("192.0.2.1", 1), at(remote, 2));
    file.clear();
    mixed.data(End::kLocal, {&piece, 1}, bytes.size(), WallTime(1), file);
    const auto packets = packets_of(file);
    EXPECT_EQ(packets.back().ip_version, 6U);
    EXPECT_EQ(packets.back().payload, pattern(3));
    expect_good_checksums(packets);
  }
}

// The widest window that TCP can offer (RFC 7323 §2.3).
TEST_F(Conversation, IsAcknowledgedBeforeTheWidestWindowIsFull) {
  const auto bytes = pattern(Transcript::kMaxSegment);
  data(End::kLocal, bytes);
  std::size_t plain = 0;  // the size of a segment alone
  bool acknowledged = false;
  for (std::uint64_t sent = 0; sent < std::uint64_t{0xFFFF} << 14U && !acknowledged;
       sent += bytes.size()) {
    file.clear();
    data(End::kLocal, bytes);
    if (plain == 0) plain = file.size();
    acknowledged = file.size() > plain;
  }
  EXPECT_TRUE(acknowledged);
}

}  // namespace
}  // namespace iwarp::tcp_offload::capture
