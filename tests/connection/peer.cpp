#include "connection/peer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace iwarp::test {
namespace {

using connection::InboundStop;

// One for all, as for a thread: it is a megabyte.
connection::Batch& batch_of_thread() {
  static thread_local connection::Batch batch;
  return batch;
}

}  // namespace

Octets octets_of(std::span<const iovec> pieces) {
  Octets octets;
  for (const iovec& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    octets.insert(octets.end(), from, from + piece.iov_len);
  }
  return octets;
}

connection::Terms usual_terms() {
  connection::Terms terms;
  terms.ird = terms.ord = 4;
  terms.secret = 0x5EC2E7;
  return terms;
}

connection::Terms usual_terms(mpa::Markers markers) {
  connection::Terms terms = usual_terms();
  terms.modes.markers_tx = terms.modes.markers_rx = markers;
  return terms;
}

Peer::Peer(Endpoint& of, const connection::Terms& terms)
    : endpoint(of),
      core({of.stags, kPd, of.receives, of.requests}, terms),
      batch(batch_of_thread()) {}

Octets Peer::send(connection::MayLeave may_leave) {
  Octets all;
  for (;;) {
    const auto offer = core.outbound().offer(batch, {.mulpdu = mulpdu, .may_leave = may_leave});
    if (offer.pieces.empty()) break;
    const Octets octets = octets_of(offer.pieces);
    all.insert(all.end(), octets.begin(), octets.end());
    released += octets.size();
    EXPECT_FALSE(core.outbound().sent(batch, octets.size(), released));
  }
  retire();
  return all;
}

Octets Peer::send_part(std::size_t accepted, bool releases) {
  const auto offer = core.outbound().offer(batch, {.mulpdu = mulpdu});
  Octets octets = octets_of(offer.pieces);
  EXPECT_LE(accepted, octets.size());
  octets.resize(accepted);
  if (releases) released += accepted;
  EXPECT_FALSE(core.outbound().sent(batch, accepted, released));
  retire();
  return octets;
}

Octets Peer::send_within(const connection::OutboundLimits& bounds, std::size_t accepted) {
  const auto offer = core.outbound().offer(batch, bounds);
  fault = offer.fault;
  Octets octets = octets_of(offer.pieces);
  octets.resize(std::min(octets.size(), accepted));
  released += octets.size();
  EXPECT_FALSE(core.outbound().sent(batch, octets.size(), released));
  retire();
  return octets;
}

Octets Peer::send_all_within(const connection::OutboundLimits& bounds) {
  Octets all;
  for (Octets some = send_within(bounds); !some.empty(); some = send_within(bounds)) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

void Peer::retire() {
  core.outbound().released(released);
  for (std::uint32_t done = core.outbound().count_done(released); done != 0; --done, ++retired) {
    endpoint.requests.retire();
  }
}

void Peer::note() {
  const auto news = events.deliveries();
  deliveries.insert(deliveries.end(), news.begin(), news.end());
}

InboundStop Peer::receive(ConstBytes octets) {
  connection::Inbound& inbound = core.inbound();
  const std::size_t kept = inbound.kept();
  // Exactly its size, so that AddressSanitizer sees a step too far.
  const std::unique_ptr<std::byte[]> buffer(new std::byte[kept + octets.size()]);
  inbound.move_kept(buffer.get());
  std::ranges::copy(octets, buffer.get() + kept);
  MutableBytes left(buffer.get(), kept + octets.size());
  InboundStop why{};
  do {
    events.clear();
    const auto taken = inbound.take(left, limits, events);
    left = left.subspan(taken.octets);
    why = taken.why;
    note();
  } while (why == InboundStop::kEventsFull);
  inbound.keep(left, {}, limits.now);
  return why;
}

InboundStop Peer::resume() {
  InboundStop why{};
  do {
    events.clear();
    why = core.inbound().resume(limits, events);
    note();
  } while (why == InboundStop::kEventsFull);
  return why;
}

}  // namespace iwarp::test
