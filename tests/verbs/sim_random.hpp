#pragma once

#include "support/sanitizers.hpp"
#include "verbs/traffic.hpp"

namespace iwarp::verbs::simtest {

inline constexpr std::uint64_t kThoroughness = iwarp::test::kSanitizer ? 1 : 4;

/// How a network, a connection and its queues may be: anything that has to work.
PairOptions random_pair(iwarp::test::Random& random);

/// Traffic that such a pair carries within a few thousand segments.
TrafficOptions random_traffic(iwarp::test::Random& random, const PairOptions& pair);

/// Both directions at once.
struct BothWays {
  BothWays(SimPair& pair, iwarp::test::Random& random, const TrafficOptions& options)
      : there(pair.client, pair.server, random, options),
        back(pair.server, pair.client, random, options) {}

  void post_some(iwarp::test::Random& random) {
    if (random.one_in(3)) there.post_some();
    if (random.one_in(3)) back.post_some();
  }
  [[nodiscard]] bool done() const {
    return there.all_posted() && back.all_posted() && there.all_done() && back.all_done();
  }

  Traffic there, back;
};

}  // namespace iwarp::verbs::simtest
