// A simulated device that computes and checks CRCs, and inserts and removes Markers: what is on the
// wire below it, and what the host sees of that.
#include "iwarp/sim/mpa_device.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

#include "iwarp/mpa/mulpdu.hpp"
#include "iwarp/sim/network.hpp"
#include "mpa/naive_framer.hpp"
#include "support/random.hpp"
#include "tcp_offload/harness.hpp"

namespace iwarp::tcp_offload::test {
namespace {

using iwarp::test::Bytes;
using iwarp::test::Random;
using mpa::test::NaiveFramer;
using std::chrono_literals::operator""us;

constexpr Offloads kBoth = Offload::kCrc | Offload::kMarkers;
constexpr Offloads kChoices[] = {Offload::kCrc, Offload::kMarkers, kBoth};
constexpr MpaTerms kAll{.crc = true, .markers_sent = true, .markers_received = true};

// Lengths that have Markers fall on every part of an FPDU, and between two.
std::vector<Bytes> some_ulpdus(Random& random, std::size_t count) {
  std::vector<Bytes> ulpdus;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t longest = random.one_in(8) ? 5000 : random.one_in(2) ? 8 : 600;
    ulpdus.emplace_back(random.between(0, longest));
    random.fill(ulpdus.back());
  }
  return ulpdus;
}

NaiveFramer framer_of(bool crc, bool markers) {
  return {crc ? mpa::Crc::kOn : mpa::Crc::kOff, markers ? mpa::Markers::kOn : mpa::Markers::kOff};
}

Bytes framed(const std::vector<Bytes>& ulpdus, bool crc, bool markers) {
  NaiveFramer framer = framer_of(crc, markers);
  for (const Bytes& ulpdu : ulpdus) framer.frame(ulpdu);
  return framer.stream();
}

SimOptions in_pieces(bool copied = true) {
  SimOptions options;
  options.memory = copied ? SimMemory::kCopied : SimMemory::kReferenced;
  options.release_lag = copied ? 0us : 100us;
  options.send_buffer = 3000;
  options.receive_buffer = 2500;
  options.jitter = 20us;
  options.segment = {1, 700};
  options.lend = {1, 900};
  options.accept = {1, 600};
  return options;
}

// A host whose device knows MPA, and the wire at the other end.
class World {
 public:
  explicit World(const MpaTerms& negotiated, Offloads offloads = kBoth,
                 const SimOptions& options = in_pieces(), std::uint64_t seed = 3)
      : random_(seed), network(seed, options), two(network.make_stream_pair()) {
    host = offload_mpa(std::move(two.connector), negotiated, offloads);
    wire = std::move(two.acceptor);
  }

  // Sends `from` at one end in random pieces while the other receives; returns what came there, and
  // stops when nothing comes any more.
  Bytes carry(Stream& from, Stream& to, ConstBytes octets) {
    Bytes came;
    std::uint64_t sent = 0;
    do {
      const auto rest = octets.subspan(static_cast<std::size_t>(sent));
      sent += offer(from, rest.first(std::min<std::size_t>(rest.size(), random_.below(1500))));
      status = receive(to, came);
    } while (network.step() || sent < octets.size() || status == IoStatus::kOk);
    return came;
  }

  static IoStatus receive(Stream& stream, Bytes& into) {
    std::byte scratch[1000];
    const Received got = stream.receive(scratch);
    into.insert(into.end(), got.data.begin(), got.data.end());
    stream.consume(got.data.size());
    return got.status;
  }

 private:
  // In two pieces, of which the memory is gone as soon as the stream does not need it.
  std::size_t offer(Stream& stream, ConstBytes octets) {
    Bytes copy(octets.begin(), octets.end());
    const std::size_t cut = random_.below(static_cast<std::uint32_t>(copy.size() + 1));
    const iovec pieces[] = {{copy.data(), cut}, {copy.data() + cut, copy.size() - cut}};
    const Sent sent = stream.send(pieces);
    EXPECT_EQ(sent.status == IoStatus::kOk, sent.accepted != 0 || octets.empty());
    accepted_ += sent.accepted;
    offered_.emplace_back(accepted_, std::move(copy));
    EXPECT_LE(stream.released(), accepted_);
    while (!offered_.empty() && offered_.front().first <= stream.released()) offered_.pop_front();
    return sent.accepted;
  }

  Random random_;
  std::uint64_t accepted_ = 0;
  std::deque<std::pair<std::uint64_t, Bytes>> offered_;

 public:
  SimNetwork network;
  SimStreamPair two;
  std::unique_ptr<Stream> host, wire;
  IoStatus status = IoStatus::kWouldBlock;
};

std::string name_of(const MpaTerms& terms, Offloads offloads) {
  return std::string("crc ") + (terms.crc ? "on" : "off") + ", markers " +
         (terms.markers_sent ? "on" : "off") +
         (offloads.contains(Offload::kCrc) ? ", takes CRC" : "") +
         (offloads.contains(Offload::kMarkers) ? ", takes markers" : "");
}

// All that can be negotiated, the same both ways, and every device.
template <typename Test>
void in_every_mode(Test test) {
  for (const bool crc : {false, true}) {
    for (const bool markers : {false, true}) {
      for (const Offloads offloads : kChoices) {
        const MpaTerms terms{crc, markers, markers};
        SCOPED_TRACE(name_of(terms, offloads));
        test(terms, left_to_host(terms, offloads), offloads);
      }
    }
  }
}

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
