#pragma once

#include <algorithm>
#include <array>
#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include "iwarp/verbs/endpoint.hpp"

namespace iwarp::verbs {

/// The network that limits on peers count by: an IPv4 address, also one inside an IPv6 address, or
/// the upper 64 bits of an IPv6 address, as the lower ones are a host's to choose (RFC 4291
/// §2.5.1).
inline Address counted_network(const Address& of) {
  constexpr std::size_t kPrefix = 8;  // octets
  if (of.is_v4()) return of;
  if (of.is_v4_mapped()) return of.mapped_v4();
  auto octets = of.octets();
  std::fill(octets.begin() + kPrefix, octets.end(), std::uint8_t{0});
  return Address(octets);
}

/// The holders of something that is scarce, by the network of the peer for which each holds it.
/// Where there is no room for another one, a holder of the network with the largest share makes
/// room, if that share is a large one: what strangers take costs the network that takes most of it,
/// and not the others (RFC 5042 §6.4). Where no network has a large share age decides: a network
/// with two holders is not to suffer for a thousand networks with one each. Not thread-safe.
template <typename Holder>
class FairShare {
  struct Held {
    Holder holder;
    Address network;
    std::uint64_t order;
    std::size_t amount;
  };
  struct Share {
    Address network;
    std::size_t amount;
  };
  struct ByHolder {};
  struct ByAge {};
  struct ByAgeInNetwork {};
  struct ByNetwork {};
  struct ByAmount {};

 public:
  /// The youngest of all from now on. Precondition: it is not there yet, and `amount` is not 0.
  void add(const Holder& holder, const Address& peer, std::size_t amount = 1) {
    const auto network = counted_network(peer);
    auto& shares = shares_.template get<ByNetwork>();
    // Without memory for the holder an empty share is left, which changes nothing.
    const auto share = shares.insert({network, 0}).first;
    held_.insert({holder, network, next_++, amount});
    shares.modify(share, [amount](Share& one) { one.amount += amount; });
    total_ += amount;
  }

  /// Nothing, if it is not there.
  void remove(const Holder& holder) {
    auto& all = held_.template get<ByHolder>();
    const auto at = all.find(holder);
    if (at == all.end()) return;
    auto& shares = shares_.template get<ByNetwork>();
    const auto share = shares.find(at->network);
    total_ -= at->amount;
    if (share->amount == at->amount) {
      shares.erase(share);
    } else {
      shares.modify(share, [amount = at->amount](Share& one) { one.amount -= amount; });
    }
    all.erase(at);
  }

  /// How many holders there are.
  [[nodiscard]] std::size_t size() const { return held_.size(); }
  /// The amounts of the peer's network.
  [[nodiscard]] std::size_t of_peer(const Address& peer) const {
    const auto& shares = shares_.template get<ByNetwork>();
    const auto at = shares.find(counted_network(peer));
    return at == shares.end() ? 0 : at->amount;
  }
  /// The one of the peer's network that has been there longest.
  [[nodiscard]] std::optional<Holder> oldest_of(const Address& peer) const {
    const auto& by_age = held_.template get<ByAgeInNetwork>();
    const auto at = by_age.lower_bound(counted_network(peer));
    const bool found = at != by_age.end() && at->network == counted_network(peer);
    return found ? std::optional(at->holder) : std::nullopt;
  }
  /// Whether the peer's network has a large share.
  [[nodiscard]] bool is_large(const Address& peer) const {
    return of_peer(peer) > most_of_a_small_share();
  }
  /// The holder that makes room: the one that has been there longest of the network with the
  /// largest share, or of all if that is not a large one.
  [[nodiscard]] std::optional<Holder> makes_room() const {
    if (held_.empty()) return std::nullopt;
    const auto hog = largest();
    if (!hog) return held_.template get<ByAge>().begin()->holder;
    return held_.template get<ByAgeInNetwork>().lower_bound(*hog)->holder;
  }
  /// The same where it is the latest that is turned away: the youngest of these.
  [[nodiscard]] std::optional<Holder> turned_away() const {
    if (held_.empty()) return std::nullopt;
    const auto hog = largest();
    if (!hog) return std::prev(held_.template get<ByAge>().end())->holder;
    return std::prev(held_.template get<ByAgeInNetwork>().upper_bound(*hog))->holder;
  }

 private:
  /// One holder is no large share, however few there are.
  [[nodiscard]] std::size_t most_of_a_small_share() const {
    constexpr std::size_t kLargePart = 16;
    return std::max<std::size_t>(total_ / kLargePart, 1);
  }
  /// The network with the largest share, if that is a large one. Precondition: there are holders.
  [[nodiscard]] std::optional<Address> largest() const {
    const Share& share = *std::prev(shares_.template get<ByAmount>().end());
    return share.amount > most_of_a_small_share() ? std::optional(share.network) : std::nullopt;
  }

  boost::multi_index_container<
      Held, boost::multi_index::indexed_by<
                boost::multi_index::hashed_unique<
                    boost::multi_index::tag<ByHolder>,
                    boost::multi_index::member<Held, Holder, &Held::holder>>,
                boost::multi_index::ordered_unique<
                    boost::multi_index::tag<ByAge>,
                    boost::multi_index::member<Held, std::uint64_t, &Held::order>>,
                boost::multi_index::ordered_unique<
                    boost::multi_index::tag<ByAgeInNetwork>,
                    boost::multi_index::composite_key<
                        Held, boost::multi_index::member<Held, Address, &Held::network>,
                        boost::multi_index::member<Held, std::uint64_t, &Held::order>>>>>
      held_;
  boost::multi_index_container<
      Share, boost::multi_index::indexed_by<
                 boost::multi_index::ordered_unique<
                     boost::multi_index::tag<ByNetwork>,
                     boost::multi_index::member<Share, Address, &Share::network>>,
                 boost::multi_index::ordered_non_unique<
                     boost::multi_index::tag<ByAmount>,
                     boost::multi_index::member<Share, std::size_t, &Share::amount>>>>
      shares_;
  std::uint64_t next_ = 0;
  std::size_t total_ = 0;
};

}  // namespace iwarp::verbs
