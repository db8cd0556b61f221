#include "connection/joined_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace iwarp::test {
namespace {

connection::Terms terms_of(const EndpointOptions& options) {
  connection::Terms terms;
  terms.ird = options.ird;
  terms.ord = options.ord;
  terms.extensions = options.extensions;
  terms.rtr = options.rtr;
  terms.first = options.first;
  terms.secret = static_cast<std::uint32_t>(options.secret * 0x2545F491U);
  return terms;
}

}  // namespace

JoinedWorld::JoinedWorld(std::uint64_t seed) : World(seed) {
  connection::Terms terms[2] = {terms_of(sides[0]->options), terms_of(sides[1]->options)};
  // Those that are sent from where they are, are longer than what is better copied.
  if (random.one_in(3)) longest_ = 4000;
  const auto crc = random.one_in(4) ? mpa::Crc::kOff : mpa::Crc::kOn;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto markers = random.one_in(2) ? mpa::Markers::kOn : mpa::Markers::kOff;
    terms[i].modes.markers_tx = terms[1 - i].modes.markers_rx = markers;
    terms[i].modes.crc = crc;
    if (random.one_in(2)) terms[i].source = connection::SourceMemory::kStable;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    ends_[i].peer = std::make_unique<Peer>(sides[i]->endpoint, terms[i]);
    ends_[i].peer->mulpdu = random.one_in(3) ? random.between(128, 200) : random.between(128, 9000);
    ends_[i].releases_late = random.one_in(8);
  }
}

std::size_t JoinedWorld::index_of(const Side& side) const {
  return &side == sides[0].get() ? 0 : 1;
}

void JoinedWorld::transmit(Side& from) {
  End& end = ends_[index_of(from)];
  Peer& peer = *end.peer;
  const auto offer = peer.core.outbound().offer(
      peer.batch, {.mulpdu = peer.mulpdu, .octets = random.between(1, 20000)});
  EXPECT_FALSE(offer.fault);
  Octets octets = octets_of(offer.pieces);
  const auto size = static_cast<std::uint32_t>(octets.size());
  const std::size_t accepted = random.one_in(2) ? size : random.below(size + 1);
  if (!end.releases_late) peer.released += accepted;
  ASSERT_FALSE(peer.core.outbound().sent(peer.batch, accepted, peer.released));
  const auto cut = octets.begin() + static_cast<std::ptrdiff_t>(accepted);
  end.stream.insert(end.stream.end(), octets.begin(), cut);
  check_prefix(peer, {cut, octets.end()});
  release(end);
}

// What was offered and not accepted comes first the next time.
void JoinedWorld::check_prefix(Peer& from, const Octets& left) {
  const auto again =
      octets_of(from.core.outbound().offer(from.batch, {.mulpdu = from.mulpdu}).pieces);
  ASSERT_FALSE(from.core.outbound().sent(from.batch, 0, from.released));
  const std::size_t common = std::min(left.size(), again.size());
  EXPECT_TRUE(left.empty() || common != 0) << "nothing is offered any more";
  EXPECT_TRUE(
      std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(common), again.begin()));
}

void JoinedWorld::release(End& end) {
  Peer& peer = *end.peer;
  const auto owed = static_cast<std::uint32_t>(peer.core.outbound().accepted() - peer.released);
  if (random.one_in(3)) peer.released += random.below(owed + 1);
  peer.retire();
}

void JoinedWorld::convey(Side& from, Side& to) {
  Octets& stream = ends_[index_of(from)].stream;
  if (stream.empty()) return;
  const auto size = static_cast<std::uint32_t>(stream.size());
  const std::uint32_t most = random.one_in(3) ? 8 : size;
  const std::size_t arrived = random.between(1, std::min(size, most));
  take_in(to, ConstBytes(stream).first(arrived));
  stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(arrived));
}

void JoinedWorld::take_in(Side& to, ConstBytes octets) {
  End& end = ends_[index_of(to)];
  Peer& peer = *end.peer;
  peer.deliveries.clear();
  const auto why = peer.receive(octets);
  ASSERT_EQ(why, connection::InboundStop::kNeedsMore);
  ASSERT_FALSE(peer.events.fault);
  for (const rdmap::SendDelivered& delivery : peer.deliveries) expect_due(delivery, to);
  const std::uint64_t writes = peer.core.inbound().counters().peer_writes;
  to.writes_due -= static_cast<std::uint32_t>(writes - std::exchange(end.writes_seen, writes));
  peer.retire();
}

bool JoinedWorld::silent(Side& side) {
  End& end = ends_[index_of(side)];
  Peer& peer = *end.peer;
  if (!end.stream.empty() || peer.core.outbound().has_more()) return false;
  peer.released = peer.core.outbound().accepted();
  peer.retire();
  return true;
}

}  // namespace iwarp::test
