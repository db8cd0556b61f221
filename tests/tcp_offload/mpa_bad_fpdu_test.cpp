// FPDUs that a simulated device with CRCs and Markers to itself refuses.
#include <gmock/gmock.h>

#include "tcp_offload/mpa_world.hpp"

namespace iwarp::tcp_offload::test {
namespace {

/// What a host has heard of a stream.
struct Heard {
  Bytes lent;
  std::vector<std::error_code> bad;
};

// Brings `wire` to the host, until nothing happens any more.
Heard hear(World& world, ConstBytes wire) {
  Heard heard;
  std::size_t sent = 0;
  do {
    const iovec rest{const_cast<std::byte*>(wire.data()) + sent, wire.size() - sent};
    sent += world.wire->send({&rest, 1}).accepted;
    do {
      std::byte scratch[1000];
      const Received got = world.host->receive(scratch);
      world.status = got.status;
      if (got.status == IoStatus::kBadFpdu) heard.bad.push_back(got.error);
      heard.lent.insert(heard.lent.end(), got.data.begin(), got.data.end());
      world.host->consume(got.data.size());
    } while (world.status == IoStatus::kOk || world.status == IoStatus::kBadFpdu);
  } while (world.network.step() || sent < wire.size());
  return heard;
}

// Nothing of the bad FPDU is lent, nor of what is behind it; it is told once.
void expect_refused(const Heard& heard, const Bytes& good, Error why) {
  EXPECT_EQ(heard.lent, good);
  EXPECT_THAT(heard.bad, testing::ElementsAre(make_error_code(why)));
}

class BadFpdu : public testing::Test {
 protected:
  const Bytes ulpdu_ = pattern(700);
  const Bytes first_ = framed({ulpdu_}, false, false);
  const std::size_t second_at_ = framed({ulpdu_}, true, true).size();
  const std::size_t third_at_ = framed({ulpdu_, ulpdu_}, true, true).size();
};

TEST_F(BadFpdu, IsToldByItsCrcWhicheverOctetIsWrong) {
  const Bytes good = framed({ulpdu_, ulpdu_, ulpdu_}, true, true);
  for (std::size_t at = second_at_ + 2; at < third_at_; at += 3) {
    SCOPED_TRACE(at);
    Bytes wire = good;
    wire[at] ^= std::byte{0x10};
    World world(kAll);
    expect_refused(hear(world, wire), first_, Error::kBadCrc);
  }
}

TEST_F(BadFpdu, IsToldByItsMarkers) {
  for (const bool crc : {false, true}) {
    NaiveFramer framer = framer_of(crc, true);
    framer.frame(ulpdu_);
    framer.fpduptr_flip = 4;
    framer.frame(ulpdu_);
    framer.fpduptr_flip = 0;
    framer.frame(ulpdu_);
    World world({.crc = crc, .markers_received = true});
    expect_refused(hear(world, framer.stream()), first_, Error::kBadMarker);
  }
}

TEST_F(BadFpdu, OfWhichCrcAndMarkersAreWrongIsToldByItsCrc) {
  NaiveFramer framer = framer_of(true, true);
  framer.frame(ulpdu_);
  framer.fpduptr_flip = 4;
  framer.frame(ulpdu_);
  Bytes wire = framer.stream();
  wire.back() ^= std::byte{1};
  World world(kAll);
  expect_refused(hear(world, wire), first_, Error::kBadCrc);
}

TEST_F(BadFpdu, IsNoneOfTheDevicesWhereTheHostChecks) {
  Bytes wire = framed({ulpdu_, ulpdu_}, true, true);
  wire[second_at_ + 20] ^= std::byte{1};
  World world(kAll, Offload::kMarkers);
  const Heard heard = hear(world, wire);
  EXPECT_EQ(heard.lent, wire);
  EXPECT_TRUE(heard.bad.empty());
}

TEST_F(BadFpdu, LeavesTheEndOfTheStreamAndTheOtherWay) {
  Bytes wire = framed({ulpdu_}, true, true);
  wire.back() ^= std::byte{1};
  World world(kAll);
  expect_refused(hear(world, wire), {}, Error::kBadCrc);
  EXPECT_EQ(world.carry(*world.host, *world.wire, first_), framed({ulpdu_}, true, true));
  world.wire->shutdown_send();
  EXPECT_TRUE(hear(world, {}).bad.empty());
  EXPECT_EQ(world.status, IoStatus::kEndOfStream);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
