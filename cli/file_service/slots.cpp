#include "file_service/slots.hpp"

#include <algorithm>
#include <iwarp/verbs/fair_share.hpp>
#include <vector>

namespace iwarp::cli::file_service {

std::optional<std::size_t> makes_room(std::span<const Slot> slots,
                                      const boost::asio::ip::address& newcomer) {
  verbs::FairShare<std::size_t> all, spare;
  std::vector<std::size_t> by_age;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    all.add(i, slots[i].peer);
    if (slots[i].spare_since) by_age.push_back(i);
  }
  std::ranges::sort(by_age, {}, [slots](std::size_t i) { return *slots[i].spare_since; });
  for (const std::size_t i : by_age) spare.add(i, slots[i].peer);
  const auto chosen = spare.makes_room();
  if (!chosen) return std::nullopt;
  const bool takes_fewer = all.of_peer(slots[*chosen].peer) < all.of_peer(newcomer);
  return takes_fewer ? std::nullopt : chosen;
}

}  // namespace iwarp::cli::file_service
