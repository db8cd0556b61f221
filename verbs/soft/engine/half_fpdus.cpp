#include "soft/engine/half_fpdus.hpp"

#include <algorithm>
#include <vector>

#include "iwarp/verbs/fair_share.hpp"

namespace iwarp::verbs::soft {

void make_room(std::span<const std::shared_ptr<Driven>> among, const HalfFpduLedger& ledger,
               std::chrono::steady_clock::time_point now) {
  struct Half {
    Driven* of;
    HalfFpdu what;
  };
  std::vector<Half> halves;
  for (const auto& each : among) {
    if (const auto half = each->half_fpdu()) halves.push_back({each.get(), *half});
  }
  std::ranges::sort(halves, {}, [](const Half& half) { return half.what.since; });
  FairShare<std::size_t> shares;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    shares.add(i, halves[i].what.peer, halves[i].what.octets);
  }
  // A little more than is needed, so that not each octet that comes asks anew.
  const std::ptrdiff_t goal = ledger.limits().enough - ledger.limits().enough / 4;
  for (std::ptrdiff_t held = ledger.octets(); held > goal;) {
    const auto next = shares.makes_room();
    if (!next) return;
    const Half& half = halves[*next];
    const bool late = now - half.what.since >= ledger.limits().patience;
    if (!late && held < ledger.limits().most) return;
    shares.remove(*next);
    held -= static_cast<std::ptrdiff_t>(half.what.octets);
    half.of->give_up_half_fpdu(half.what.since);
  }
}

}  // namespace iwarp::verbs::soft
