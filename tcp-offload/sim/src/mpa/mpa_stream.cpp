#include "mpa/mpa_stream.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace iwarp::tcp_offload::sim {
namespace {

// What one call takes of the host: the wire may have room for little.
constexpr std::size_t kMostAtOnce = 4096;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::vector<std::byte> gather(std::span<const iovec> pieces) {
  std::vector<std::byte> octets;
  for (const iovec& piece : pieces) {
    const auto* const from = static_cast<const std::byte*>(piece.iov_base);
    const std::size_t size = std::min(piece.iov_len, kMostAtOnce - octets.size());
    octets.insert(octets.end(), from, from + size);
  }
  return octets;
}

// The most octets of Markers in a segment (RFC 5044 §4.5).
std::size_t room_for_markers(std::size_t segment) {
  return static_cast<std::size_t>(marker_octets((segment + 511) / 512 * 512));
}

}  // namespace

MpaStream::MpaStream(std::unique_ptr<Stream> wire, const MpaTerms& negotiated, const MpaTerms& host)
    : inserts_markers_(negotiated.markers_sent && !host.markers_sent),
      reader_({.wire = {negotiated.crc, negotiated.markers_received},
               .host = {host.crc, host.markers_received}}),
      writer_({.wire = {negotiated.crc, negotiated.markers_sent},
               .host = {host.crc, host.markers_sent}}),
      wire_(std::move(wire)) {}

MpaStream::~MpaStream() {
  if (lent_ != 0 || !reader_.begun().empty()) wire_->abort();
}

Received MpaStream::receive(MutableBytes scratch) {
  assert(lent_ == 0 && !scratch.empty());
  for (;;) {
    if (reader_.error() && !std::exchange(told_error_, true)) {
      return {IoStatus::kBadFpdu, {}, *reader_.error()};
    }
    const Received got = wire_->receive(scratch);
    if (got.status == IoStatus::kEndOfStream && !reader_.begun().empty()) {
      return lend(reader_.take_begun());
    }
    if (got.status != IoStatus::kOk) return got;
    reader_.read(got.data);
    wire_->consume(got.data.size());
    if (auto good = reader_.take_good(); !good.empty()) return lend(std::move(good));
  }
}

Received MpaStream::lend(std::vector<std::byte> octets) {
  lent_memory_ = std::move(octets);
  lent_ = lent_memory_.size();
  return {IoStatus::kOk, lent_memory_, {}};
}

void MpaStream::consume(std::size_t n) {
  assert(n <= lent_);
  lent_ -= n;
  if (lent_ == 0) lent_memory_ = {};
}

// A Marker that has left in part is no octet of the host: the wire is offered more.
Sent MpaStream::send(std::span<const iovec> pieces) {
  const std::vector<std::byte> host = gather(pieces);
  if (host.empty()) return wire_->send({});
  for (;;) {
    WireWriter ahead = writer_;
    std::vector<std::byte> octets;
    ahead.write(host, kNoLimit, octets);
    const Sent sent = send_on_wire(std::move(octets));
    if (sent.accepted == 0) return sent;
    std::vector<std::byte> again;
    const std::size_t taken = writer_.write(host, sent.accepted, again);
    accepted_ += taken;
    if (taken != 0) return {IoStatus::kOk, taken, {}};
  }
}

Sent MpaStream::send_on_wire(std::vector<std::byte> octets) {
  const iovec piece{octets.data(), octets.size()};
  const Sent sent = wire_->send({&piece, 1});
  accepted_on_wire_ += sent.accepted;
  if (sent.accepted != 0) unreleased_.push_back({accepted_on_wire_, std::move(octets)});
  const std::uint64_t released = wire_->released();
  while (!unreleased_.empty() && unreleased_.front().end <= released) unreleased_.pop_front();
  return sent;
}

std::uint64_t MpaStream::host_octets(std::uint64_t wire_octets) const {
  return inserts_markers_ ? wire_octets - marker_octets(wire_octets) : wire_octets;
}

// Octets of streaming mode, which may be unacknowledged still, are those of the host.
Delivery MpaStream::delivery() const {
  const Delivery on_wire = wire_->delivery();
  const std::uint64_t here = std::min(on_wire.unacknowledged, accepted_on_wire_);
  const std::uint64_t arrived = host_octets(accepted_on_wire_ - here);
  return {accepted_ - arrived + (on_wire.unacknowledged - here), on_wire.lost};
}

std::size_t MpaStream::emss() const {
  const std::size_t segment = wire_->emss();
  if (!inserts_markers_) return segment;
  return std::max<std::size_t>(segment - std::min(segment, room_for_markers(segment)), 1);
}

std::size_t MpaStream::send_quantum() const {
  return wire_->send_quantum() / wire_->emss() * emss();
}

}  // namespace iwarp::tcp_offload::sim
