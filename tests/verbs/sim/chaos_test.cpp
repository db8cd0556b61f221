#include "verbs/cut_stream.hpp"
#include "verbs/sim_random.hpp"

// Whatever goes wrong, and whenever: nothing outside registered memory is touched, everything
// posted completes once, and both ends end in bounded time.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Random;

enum class Trouble {
  kCorruption,
  kReset,
  kStall,
  kFinInsideFpdu,
  kAbort,
  kDisconnect,
  kDestruction,
  kDeregistration,
};

std::string name_of(const testing::TestParamInfo<Trouble>& info) {
  constexpr const char* kNames[] = {"Corruption", "Reset",      "Stall",       "FinInsideFpdu",
                                    "Abort",      "Disconnect", "Destruction", "Deregistration"};
  return kNames[static_cast<std::size_t>(info.param)];
}

class SimChaos : public testing::TestWithParam<Trouble> {};
INSTANTIATE_TEST_SUITE_P(Trouble, SimChaos,
                         testing::Values(Trouble::kCorruption, Trouble::kReset, Trouble::kStall,
                                         Trouble::kFinInsideFpdu, Trouble::kAbort,
                                         Trouble::kDisconnect, Trouble::kDestruction,
                                         Trouble::kDeregistration),
                         name_of);

// A deregistration waits for a device that has not copied what it sends, and here nobody would run
// the network meanwhile.
PairOptions options_for(Trouble trouble, Random& random) {
  PairOptions options = random_pair(random);
  if (trouble == Trouble::kDeregistration) {
    options.net.memory = tcp_offload::SimMemory::kCopied;
    options.net.release_lag = {};
  }
  return options;
}

/// One run: traffic both ways, and trouble at a random point of it.
class Trial {
 public:
  Trial(Trouble trouble, std::uint64_t seed)
      : trouble_(trouble),
        random_(seed),
        options_(options_for(trouble, random_)),
        offset_(random_.below(random_.one_in(2) ? 500 : 20'000)),
        pair_(options_, cut()),
        traffic_(pair_, random_, random_traffic(random_, options_)),
        steps_(random_.below(random_.one_in(2) ? 30 : 3000)) {}

  void go() {
    plan_network_fault();
    pair_.run_until(
        [&] {
          if (steps_-- == 0) act();
          traffic_.post_some(random_);
          return traffic_.done();
        },
        2s);
    disconnect(pair_.client);
    disconnect(pair_.server);
    const bool over = pair_.run_until(
        [&] {
          traffic_.there.post_some();
          traffic_.back.post_some();
          return ended(pair_.client, traffic_.there) && ended(pair_.server, traffic_.back);
        },
        5 * kDefaultLinger);
    ASSERT_TRUE(over) << "does not end";
    pair_.turn();
    check();
  }

 private:
  static PairOptions pair_for(Trouble trouble, Random& random) {
    PairOptions options = random_pair(random);
    if (trouble == Trouble::kDeregistration) {
      // It waits for a device that does not copy, which is served by this thread alone.
      options.net.memory = tcp_offload::SimMemory::kCopied;
      options.net.release_lag = 0ns;
    }
    return options;
  }
  Wrap cut() {
    if (trouble_ != Trouble::kFinInsideFpdu) return {};
    return [this](std::unique_ptr<tcp_offload::Stream> stream) {
      return std::make_unique<CutStream>(std::move(stream), offset_);
    };
  }
  SimEnd& somebody() { return random_.one_in(2) ? pair_.client : pair_.server; }
  static void disconnect(SimEnd& end) {
    if (end.qp) end.qp->disconnect();
  }
  static bool ended(const SimEnd& end, const Traffic& own) {
    return !end.qp || (end.closed() && own.all_posted() &&
                       end.count(ConnectionEvent::Kind::kDisconnected) == 1);
  }

  void plan_network_fault() {
    auto way = random_.one_in(2) ? pair_.to_server() : pair_.to_client();
    if (trouble_ == Trouble::kCorruption) {
      for (std::uint32_t i = 0; i < random_.between(1, 3); ++i) {
        way.corrupt_within(offset_, offset_ + 50);
      }
    }
    if (trouble_ == Trouble::kReset) way.reset_at(offset_);
    if (trouble_ == Trouble::kStall) way.stall_at(offset_, random_.one_in(2) ? 1h : 12s);
  }

  void act() {
    SimEnd& end = somebody();
    if (trouble_ == Trouble::kAbort) end.qp->abort();
    if (trouble_ == Trouble::kDisconnect) end.qp->disconnect();
    if (trouble_ == Trouble::kDestruction) end.qp.reset();
    if (trouble_ == Trouble::kDeregistration) {
      const auto regions = (random_.one_in(2) ? traffic_.there : traffic_.back).regions();
      regions[random_.below(static_cast<std::uint32_t>(regions.size()))]->mr.reset();
    }
  }

  void check() {
    if (pair_.client.qp) {
      traffic_.there.check_requests(options_.crc);
      traffic_.back.check_receives(options_.crc);
    }
    if (pair_.server.qp) {
      traffic_.back.check_requests(options_.crc);
      traffic_.there.check_receives(options_.crc);
    }
    EXPECT_TRUE(pair_.client.intact() && pair_.server.intact());
    pair_.client.qp.reset();
    pair_.server.qp.reset();
    EXPECT_EQ(pair_.client.host->tails, 0);
    EXPECT_EQ(pair_.server.host->tails, 0);
  }

  Trouble trouble_;
  Random random_;
  PairOptions options_;
  std::uint64_t offset_;
  SimPair pair_;
  BothWays traffic_;
  std::uint64_t steps_;
};

TEST_P(SimChaos, EndsInOrderAndInTime) {
  constexpr std::uint64_t kCases = 75 * kThoroughness;
  for (std::uint64_t i = 0; i < kCases && !HasFailure(); ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam()) * 1'000'000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Trial(GetParam(), seed).go();
  }
}

}  // namespace
}  // namespace iwarp::verbs::simtest
