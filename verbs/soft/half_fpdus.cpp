#include "soft/half_fpdus.hpp"

#include <algorithm>
#include <vector>

#include "iwarp/verbs/fair_share.hpp"
#include "soft/soft_qp.hpp"

namespace iwarp::verbs::soft {

void make_tail_room(std::span<const std::shared_ptr<SoftQp>> among, const TailLedger& tails,
                    std::chrono::steady_clock::time_point now) {
  struct Half {
    SoftQp* of;
    SoftQp::HalfFpdu what;
  };
  std::vector<Half> halves;
  for (const auto& qp : among) {
    if (const auto half = qp->half_fpdu()) halves.push_back({qp.get(), *half});
  }
  std::ranges::sort(halves, {}, [](const Half& half) { return half.what.since; });
  FairShare<std::size_t> shares;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    shares.add(i, halves[i].what.peer, halves[i].what.octets);
  }
  // A little more than is needed, so that not each octet that comes asks anew.
  const std::ptrdiff_t goal = tails.limits().enough - tails.limits().enough / 4;
  for (std::ptrdiff_t held = tails.octets(); held > goal;) {
    const auto next = shares.makes_room();
    if (!next) return;
    const Half& half = halves[*next];
    const bool late = now - half.what.since >= tails.limits().patience;
    if (!late && held < tails.limits().most) return;
    shares.remove(*next);
    held -= static_cast<std::ptrdiff_t>(half.what.octets);
    half.of->give_up_half_fpdu(half.what.since);
  }
}

}  // namespace iwarp::verbs::soft
