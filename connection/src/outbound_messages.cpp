#include <algorithm>

#include "iwarp/connection/outbound.hpp"

/// Short messages in a row, which differ in nothing but where their octets lie and where they are
/// placed: only the first is planned, and the others are framed behind it.
namespace iwarp::connection {

// How many messages were framed that go on with the row of `segment`, the last FPDU of the batch so
// far. One that cannot be read, or not in one piece, is left to be planned by itself.
std::uint32_t Outbound::frame_messages(Batch& batch, const rdmap::OutgoingSegment& segment,
                                       const OutboundLimits& limits) {
  const std::size_t ulpdu = segment.header_size + segment.length;
  const std::size_t most = most_messages(batch, segment);
  rdmap::OutgoingSegment next = segment;
  std::uint32_t count = 0;
  while (count < most && fits(batch, ulpdu, limits) && transmitter_.follow(next)) {
    const auto payload = whole_payload(batch, next.position);
    if (!payload) break;
    const MemoryFault missing =
        framer_.frame(next.header_bytes(), {&*payload, 1}, mpa::PayloadUse::kCopy, batch.gather_);
    if (missing) break;
    ++count;
  }
  if (count != 0) transmitter_.repeat_messages(segment, count);
  return count;
}

std::size_t Outbound::most_messages(const Batch& batch, const rdmap::OutgoingSegment& first) const {
  const bool copied = batch.payload_.use == mpa::PayloadUse::kCopy;
  if (!copied || !transmitter_.begins_row(first)) return 0;
  const std::size_t room = Batch::kMostFpdus - batch.fpdus_ - 1;
  if (!refused_) return room;
  return std::min<std::size_t>(room, *refused_ - transmitter_.cursor().request);
}

// The payload of a request, if it lies in one piece and may be read.
std::optional<ConstBytes> Outbound::whole_payload(Batch& batch, std::uint32_t position) {
  const rdmap::Request& request = parts_.requests.at(position);
  if (request.payload_in == rdmap::PayloadIn::kInline) {
    return parts_.requests.inline_data(position);
  }
  if (request.length == 0) return ConstBytes();
  if (request.sge_count != 1) return std::nullopt;
  const ddp::Sge& sge = parts_.requests.sges(position).front();
  const auto memory =
      pin(batch, sge.lkey, ddp::Rights::kNone, TaggedOffset{sge.address}, sge.length);
  if (!memory) return std::nullopt;
  return ConstBytes(*memory, sge.length);
}

}  // namespace iwarp::connection
