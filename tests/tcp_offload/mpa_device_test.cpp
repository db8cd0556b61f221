// A simulated device that computes and checks CRCs, and inserts and removes Markers: what is on the
// wire below it, and what the host sees of that.
#include <gmock/gmock.h>

#include "iwarp/mpa/mulpdu.hpp"
#include "tcp_offload/mpa_world.hpp"

namespace iwarp::tcp_offload::test {
namespace {

TEST(MpaDevice, PutsOnTheWireWhatTheHostLeftOut) {
  in_every_mode([](const MpaTerms& terms, const MpaTerms& left, Offloads offloads) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed);
      const auto ulpdus = some_ulpdus(random, 20);
      World world(terms, offloads, in_pieces(seed % 2 == 0), seed);
      const Bytes given = framed(ulpdus, left.crc, left.markers_sent);
      ASSERT_EQ(world.carry(*world.host, *world.wire, given),
                framed(ulpdus, terms.crc, terms.markers_sent));
      EXPECT_EQ(world.host->released(), given.size());
      EXPECT_EQ(world.host->delivery().unacknowledged, 0U);
    }
  });
}

TEST(MpaDevice, LendsFpdusWithoutWhatItTakesOffTheHost) {
  in_every_mode([](const MpaTerms& terms, const MpaTerms& left, Offloads offloads) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed);
      const auto ulpdus = some_ulpdus(random, 20);
      World world(terms, offloads, in_pieces(), seed);
      ASSERT_EQ(
          world.carry(*world.wire, *world.host, framed(ulpdus, terms.crc, terms.markers_received)),
          framed(ulpdus, left.crc, left.markers_received));
    }
  });
}

// RFC 5044 §4.3: from the first octet on, whatever FPDUs there are.
TEST(MpaDevice, MarkersStandAtEach512OctetsOfTheWire) {
  World world(kAll, kBoth, {});
  const Bytes ulpdu = pattern(1800);
  const Bytes wire = world.carry(*world.host, *world.wire, framed({ulpdu, ulpdu}, false, false));
  ASSERT_EQ(wire.size(), 2 * 1808U + 8 * 4U);
  constexpr std::size_t kSecond = 4 + 1808 + 3 * 4;  // ULPDU_Length of the second FPDU
  std::vector<std::size_t> pointers;
  for (std::size_t at = 0; at < wire.size(); at += 512) {
    EXPECT_EQ(load_be<std::uint16_t>(wire.data() + at), 0);
    pointers.push_back(load_be<std::uint16_t>(wire.data() + at + 2));
  }
  EXPECT_EQ(pointers, (std::vector<std::size_t>{0, 508, 1020, 1532, 2048 - kSecond, 2560 - kSecond,
                                                3072 - kSecond, 3584 - kSecond}));
}

// RFC 5044 §4.4, Figure 5.
TEST(MpaDevice, ComputesTheCrcOfTheExampleInTheRfc) {
  Bytes ulpdu = iwarp::test::from_hex("4143 00000000 00000000 00000001 00000000");
  ulpdu.resize(42);
  World world(kAll, kBoth, {});
  const Bytes wire = world.carry(*world.host, *world.wire, framed({ulpdu}, false, false));
  ASSERT_EQ(wire.size(), 0x34U);
  EXPECT_EQ(Bytes(wire.end() - 4, wire.end()), iwarp::test::from_hex("52239983"));
}

TEST(MpaDevice, LooksAtNoCrcFieldAndNoReservedBits) {
  NaiveFramer framer = framer_of(false, true);
  framer.unchecked_crc = 0x12345678;
  framer.marker_reserved = 0xFFFF;
  framer.fpduptr_flip = 3;
  NaiveFramer expected = framer_of(false, false);
  expected.unchecked_crc = framer.unchecked_crc;
  for (const std::size_t size : {0U, 1000U, 508U}) {
    framer.frame(pattern(size));
    expected.frame(pattern(size));
  }
  World world({.crc = false, .markers_received = true});
  EXPECT_EQ(world.carry(*world.wire, *world.host, framer.stream()), expected.stream());
}

TEST(MpaDevice, LendsWhatHasComeOfAnFpduInWhichTheStreamEnds) {
  const Bytes wire = framed({pattern(700)}, true, true);
  for (const std::size_t end : {1U, 5U, 600U, 715U}) {
    World world(kAll);
    const Bytes sent(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(end));
    EXPECT_TRUE(hear(world, sent).lent.empty());
    world.wire->shutdown_send();
    const Bytes lent = hear(world, {}).lent;
    EXPECT_EQ(world.status, IoStatus::kEndOfStream);
    const Bytes whole = framed({pattern(700)}, false, false);
    EXPECT_LT(lent.size(), whole.size());
    EXPECT_TRUE(std::equal(lent.begin(), lent.end(), whole.begin()));
  }
}

TEST(MpaDevice, SendsAnFpduThatWasBegunBeforeTheEndOfTheStream) {
  const Bytes given = framed({pattern(700)}, false, false);
  const Bytes wire = framed({pattern(700)}, true, true);
  World world(kAll);
  const Bytes came = world.carry(*world.host, *world.wire, ConstBytes(given).first(600));
  world.host->shutdown_send();
  EXPECT_EQ(came, Bytes(wire.begin(), wire.begin() + 608));
  world.network.run_until_idle();
  Bytes more;
  EXPECT_EQ(World::receive(*world.wire, more), IoStatus::kEndOfStream);
}

TEST(MpaDevice, PeerSeesAResetIfAnFpduWasLeftUnread) {
  World world(kAll, kBoth, {});
  EXPECT_TRUE(hear(world, ConstBytes(framed({pattern(700)}, true, true)).first(600)).lent.empty());
  world.host.reset();
  world.network.run_until_idle();
  Bytes more;
  EXPECT_EQ(World::receive(*world.wire, more), IoStatus::kLost);
}

// Of the host's octets: 500 to 4 of a Marker, here.
TEST(MpaDevice, CountsTheOctetsThatItTookOfTheHost) {
  SimOptions options;
  options.send_buffer = 2000;
  World world(kAll, kBoth, options);
  Bytes given = framed({pattern(3000)}, false, false);
  const auto offer = [&] {
    const iovec piece{given.data(), given.size()};
    return world.host->send({&piece, 1});
  };
  EXPECT_EQ(offer().accepted, 2000U - 4 * 4);
  EXPECT_EQ(offer().status, IoStatus::kWouldBlock);
  EXPECT_EQ(world.host->released(), 1984U);
  EXPECT_EQ(world.host->delivery().unacknowledged, 1984U);
  world.network.run_until_idle();
  EXPECT_EQ(world.host->delivery().unacknowledged, 0U);
  EXPECT_EQ(world.two.link.from(SimSide::kConnector).accepted(), 2000U);
}

// Where only a part of a Marker has left, nothing of the host's has been taken.
TEST(MpaDevice, TakesNothingOfTheHostForAMarker) {
  SimOptions options;
  options.send_buffer = 2;
  World world(kAll, kBoth, options);
  Bytes given = framed({pattern(10)}, false, false);
  const iovec piece{given.data(), given.size()};
  EXPECT_EQ(world.host->send({&piece, 1}).status, IoStatus::kWouldBlock);
  EXPECT_EQ(world.two.link.from(SimSide::kConnector).accepted(), 2U);
  EXPECT_EQ(world.host->delivery().unacknowledged, 0U);
  EXPECT_EQ(world.carry(*world.host, *world.wire, given), framed({pattern(10)}, true, true));
}

// RFC 5044 §4.5.
TEST(MpaDevice, LeavesInASegmentTheRoomForItsMarkers) {
  for (const std::size_t emss : {137U, 512U, 513U, 1448U, 1460U, 8948U, 65483U}) {
    SimOptions options;
    options.emss = emss;
    options.send_quantum = 3 * emss;
    const World marked(kAll, kBoth, options);
    const std::size_t left = marked.host->emss();
    EXPECT_EQ(mpa::mulpdu(left, mpa::Markers::kOff), mpa::mulpdu(emss, mpa::Markers::kOn));
    EXPECT_EQ(marked.host->send_quantum(), 3 * left);
    const World unmarked({.crc = true, .markers_received = true}, kBoth, options);
    EXPECT_EQ(unmarked.host->emss(), emss);
    EXPECT_EQ(unmarked.host->send_quantum(), 3 * emss);
  }
}

TEST(MpaDevice, LeavesAStreamAloneOfWhichItHasNothingToDo) {
  SimNetwork network(1);
  SimStreamPair two = network.make_stream_pair();
  const Stream* const below = two.connector.get();
  EXPECT_EQ(offload_mpa(std::move(two.connector), {}, kBoth).get(), below);
  EXPECT_EQ(offload_mpa(nullptr, kAll, kBoth), nullptr);
}

// What was read in streaming mode belongs to the wire.
TEST(MpaDevice, TakesWhatWasReadBeforeTheHandOverForOctetsOfTheWire) {
  const auto harness = make_harness(Kind::kSimMpa);
  auto acceptor = harness->server().listen(harness->listen_at(), 1).value();
  Outcome accepted, connected;
  acceptor->async_accept(accepted.connecting());
  const auto attempt =
      harness->client().async_connect(acceptor->local_endpoint(), connected.connecting());
  ASSERT_TRUE(harness->run_until([&] { return accepted.calls + connected.calls == 2; }));
  const Bytes wire = framed({pattern(700)}, true, true);
  Bytes rest(wire.begin() + 600, wire.end());
  Outcome written;
  connected.connection->async_write(rest, written.transfer());
  ASSERT_TRUE(harness->run_until([&] { return written.calls == 1; }));
  const auto stream = accepted.connection->hand_over(ConstBytes(wire).first(600), kAll);
  Bytes lent;
  const Bytes expected = framed({pattern(700)}, false, false);
  EXPECT_TRUE(harness->run_until([&] {
    World::receive(*stream, lent);
    return lent.size() >= expected.size();
  }));
  EXPECT_EQ(lent, expected);
}

}  // namespace
}  // namespace iwarp::tcp_offload::test
