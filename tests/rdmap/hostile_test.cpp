#include <gtest/gtest.h>

#include "rdmap/loopback_world.hpp"

namespace iwarp::test {
namespace {

using ddp::Rights;

// A wire that now and then changes, cuts, lengthens, repeats, drops or swaps segments, with a
// liking for values that nearly fit.
class HostileWorld : public World {
 public:
  HostileWorld(std::uint64_t seed, std::uint32_t rarity) : World(seed), rarity_(rarity) {}
  [[nodiscard]] unsigned faults() const { return faults_; }

  /// More segments for a side that has had enough, or not.
  void pester(Side& to) {
    for (int i = 0; i < 20; ++i) deliver(spoilt(Ulpdu(random.below(60)), to), to);
  }

 protected:
  void carry(std::deque<Ulpdu>& wire, Side& to) override {
    Ulpdu ulpdu = std::move(wire.front());
    wire.pop_front();
    if (random.one_in(rarity_)) {
      switch (random.below(8)) {
        case 0: return;  // dropped
        case 1:          // swapped
          if (!wire.empty()) std::swap(ulpdu, wire.front());
          break;
        case 2: wire.push_front(ulpdu); break;  // repeated
        default: ulpdu = spoilt(std::move(ulpdu), to);
      }
    }
    deliver(ulpdu, to);
  }

  void deliver(const Ulpdu& ulpdu, Side& to) override {
    // Exactly its size, so that AddressSanitizer sees a step too far.
    const std::unique_ptr<std::byte[]> exact(new std::byte[ulpdu.size()]);
    std::copy(ulpdu.begin(), ulpdu.end(), exact.get());
    const auto outcome = to.endpoint.receive({exact.get(), ulpdu.size()});
    faults_ += outcome ? 0U : 1U;
    to.endpoint.retire();
  }

 private:
  Ulpdu spoilt(Ulpdu ulpdu, Side& to) {
    for (std::uint32_t n = random.between(1, 3); n > 0; --n) spoil(ulpdu, to);
    return ulpdu;
  }

  void spoil(Ulpdu& ulpdu, Side& to) {
    switch (random.below(9)) {
      case 0: return ulpdu.resize(random.below(static_cast<std::uint32_t>(ulpdu.size()) + 1));
      case 1: return ulpdu.resize(ulpdu.size() + random.below(2000), std::byte{0xAA});
      case 2: return random.fill(ulpdu);
      case 3: return put(ulpdu, 0, random.one_in(2) ? some_control() : random.octet());
      case 4: return put(ulpdu, 1, static_cast<std::uint8_t>(0x40U | random.below(16)));
      case 5: return put(ulpdu, 2, some_stag(to));
      case 6: return put(ulpdu, 6, some_offset(to));
      case 7: return put(ulpdu, 6 + 4 * random.below(9), some_number(to));
      default: return flip(ulpdu);
    }
  }

  template <typename T>
  static void put(Ulpdu& ulpdu, std::size_t at, T value) {
    if (ulpdu.size() >= at + sizeof value) store_be(ulpdu.data() + at, value);
  }
  void flip(Ulpdu& ulpdu) {
    if (ulpdu.empty()) return;
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(ulpdu.size(), 46));
    ulpdu[random.below(size)] ^= std::byte(1U << random.below(8));
  }
  std::uint8_t some_control() {
    constexpr std::uint8_t kControls[] = {0x01, 0x41, 0x81, 0xC1};
    return kControls[random.below(4)];
  }
  // A name that the side knows, though not all of them are meant for its peer.
  std::uint32_t some_stag(Side& to) {
    std::deque<Region>& regions = to.endpoint.regions();
    if (random.one_in(4)) return to.endpoint.reads.sink_stag(random.below(10)).value();
    return regions[random.below(static_cast<std::uint32_t>(regions.size()))].stag.value();
  }
  std::uint64_t some_offset(Side& to) {
    std::deque<Region>& regions = to.endpoint.regions();
    const Region& region = regions[random.below(static_cast<std::uint32_t>(regions.size()))];
    switch (random.below(4)) {
      case 0: return ~std::uint64_t{0} - random.below(2000);
      case 1: return region.base.value() + region.memory.size() - random.below(2000);
      case 2: return region.base.value() - random.below(20);
      default: return region.base.value() + random.below(2000);
    }
  }
  std::uint32_t some_number(Side& to) {
    switch (random.below(4)) {
      case 0: return random.below(5);
      case 1: return 0U - random.below(5);
      case 2: return some_stag(to);
      default: return random.word32();
    }
  }

  std::uint32_t rarity_;
  unsigned faults_ = 0;
};

bool in_force(Side& side, const Region& region, ddp::ProtectionDomainId pd) {
  return side.endpoint.stags.pin(region.stag, pd, Rights::kNone, region.base, 0).has_value();
}

void expect_safe(Side& side) {
  EXPECT_TRUE(side.endpoint.canaries_intact());
  EXPECT_TRUE(side.sink.rest_untouched()) << "beside the sinks of Reads";
  EXPECT_TRUE(side.inbox.rest_untouched()) << "beside the posted receives";
  const auto zero = [](std::byte b) { return b == std::byte{0}; };
  const ConstBytes shut = side.shut.memory.bytes();
  const ConstBytes foreign = side.foreign.memory.bytes();
  EXPECT_TRUE(std::all_of(shut.begin(), shut.end(), zero));
  EXPECT_TRUE(std::all_of(foreign.begin(), foreign.end(), zero));
  for (const Region* region :
       {&side.source, &side.shut, &side.exposed.region, &side.sink.region, &side.inbox.region}) {
    EXPECT_TRUE(in_force(side, *region, kPd)) << "ended by the peer";
  }
  EXPECT_TRUE(in_force(side, side.foreign, kOtherPd));
}

void expect_source_unchanged(const Side& side, std::uint64_t secret) {
  const Ulpdu data = pattern(side.source.memory.size(), static_cast<unsigned>(secret));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), side.source.memory.bytes().begin()));
}

void run_hostile(std::uint32_t rarity, std::uint64_t seeds) {
  unsigned faults = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    HostileWorld world(seed, rarity);
    world.run_for(25, 2000);
    for (std::uint64_t i = 0; i < 2; ++i) {
      world.pester(*world.sides[i]);
      expect_safe(*world.sides[i]);
      expect_source_unchanged(*world.sides[i], seed * 2 + i);
      world.sides[i]->endpoint.receiver.abandon();
      EXPECT_FALSE(world.sides[i]->endpoint.receiver.abandon());
    }
    faults += world.faults();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(faults, seeds / 2) << "not hostile enough";
}

TEST(HostilePeer, ReachesNothingThatItWasNotGivenByRareFaults) { run_hostile(40, 2000); }

TEST(HostilePeer, ReachesNothingThatItWasNotGivenByFrequentFaults) { run_hostile(3, 1500); }

}  // namespace
}  // namespace iwarp::test
