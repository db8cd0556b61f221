#include <algorithm>

#include "iwarp/connection/outbound.hpp"

/// Where payloads are read. What a request or a response names is looked up for each segment anew,
/// and held in place until the segment has been sent.
namespace iwarp::connection {
namespace {

// Up to here copying a payload is cheaper than one more piece in the gather list.
constexpr std::size_t kCopyUpTo = 2048;

}  // namespace

// What leaves has to be what the CRC was taken of, or the peer ends the connection: memory that may
// change is copied, and the CRC is that of the copy. Markers cut a payload into pieces of 508
// octets, so that copying it is cheaper at any length.
mpa::PayloadUse Outbound::use_for(std::size_t length, SourceMemory memory) const {
  const bool must_keep_crc = framer_.crc() == mpa::Crc::kOn && memory == SourceMemory::kMayChange;
  const bool cheaper = length <= kCopyUpTo || framer_.markers() == mpa::Markers::kOn;
  return must_keep_crc || cheaper || copies_all_ ? mpa::PayloadUse::kCopy
                                                 : mpa::PayloadUse::kReference;
}

std::optional<SendFault> Outbound::gather(Batch& batch, const rdmap::OutgoingSegment& segment) {
  batch.payload_.pieces.clear();
  batch.payload_.use = mpa::PayloadUse::kCopy;
  if (segment.length == 0) return std::nullopt;
  switch (segment.source) {
    case rdmap::Source::kNone: break;
    case rdmap::Source::kRequest: return gather_request(batch, segment);
    case rdmap::Source::kResponse: return gather_response(batch, segment);
    case rdmap::Source::kTerminate:
      batch.payload_.pieces.push_back(transmitter_.terminate_bytes());
      break;
  }
  return std::nullopt;
}

std::optional<SendFault> Outbound::gather_request(Batch& batch,
                                                  const rdmap::OutgoingSegment& segment) {
  const bool in_line = parts_.requests.at(segment.position).payload_in == rdmap::PayloadIn::kInline;
  // What is inline lies in the queue, where nothing is written until the request is done.
  batch.payload_.use = use_for(segment.length, in_line ? SourceMemory::kStable : source_);
  if (!in_line) return gather_list(batch, segment);
  batch.payload_.pieces.push_back(
      parts_.requests.inline_data(segment.position).subspan(segment.offset, segment.length));
  return std::nullopt;
}

std::optional<SendFault> Outbound::gather_list(Batch& batch,
                                               const rdmap::OutgoingSegment& segment) {
  std::uint64_t skip = segment.offset;
  std::uint64_t left = segment.length;
  for (const ddp::Sge& sge : parts_.requests.sges(segment.position)) {
    if (left == 0) break;
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    const std::uint64_t size = std::min<std::uint64_t>(sge.length - skip, left);
    auto pin = parts_.stags.pin(sge.lkey, parts_.accessor, ddp::Rights::kNone,
                                TaggedOffset{sge.address + skip}, size);
    if (!pin) return RequestFault{RequestFault::What::kNoAccess, segment.position, {}};
    batch.payload_.pieces.push_back({pin->memory(), static_cast<std::size_t>(size)});
    batch.pins_.push_back(std::move(*pin));
    left -= size;
    skip = 0;
  }
  return std::nullopt;
}

// Others, peers or the program, may write to what a peer reads; that is theirs to order (RFC 5040
// §5.5), whatever was promised of requests.
std::optional<SendFault> Outbound::gather_response(Batch& batch,
                                                   const rdmap::OutgoingSegment& segment) {
  const rdmap::ReadRequest& asked = parts_.responses.at(segment.position).read;
  auto pin =
      parts_.stags.pin(asked.source_stag, parts_.accessor, ddp::Rights::kRemoteRead,
                       TaggedOffset{asked.source_to.value() + segment.offset}, segment.length);
  if (!pin) return refuse_read(segment, pin.error());
  batch.payload_.use = use_for(segment.length, SourceMemory::kMayChange);
  batch.payload_.pieces.push_back({pin->memory(), segment.length});
  batch.pins_.push_back(std::move(*pin));
  return std::nullopt;
}

}  // namespace iwarp::connection
