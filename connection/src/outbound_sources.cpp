#include <algorithm>

#include "iwarp/connection/outbound.hpp"

/// Where payloads are read. What a request or a response names is looked up for each run of
/// segments anew, and held in place until they have been sent.
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

// The payload of `segment` and of the `count` - 1 segments that follow it.
std::optional<SendFault> Outbound::gather(Batch& batch, const rdmap::OutgoingSegment& segment,
                                          std::uint32_t count) {
  batch.payload_.clear();
  batch.payload_.use = mpa::PayloadUse::kCopy;
  if (segment.length == 0) return std::nullopt;
  switch (segment.source) {
    case rdmap::Source::kNone: break;
    case rdmap::Source::kRequest: return gather_request(batch, segment, segment.length * count);
    case rdmap::Source::kResponse: return gather_response(batch, segment, segment.length * count);
    case rdmap::Source::kTerminate: batch.payload_.add(transmitter_.terminate_bytes()); break;
  }
  return std::nullopt;
}

std::optional<SendFault> Outbound::gather_request(Batch& batch,
                                                  const rdmap::OutgoingSegment& segment,
                                                  std::uint32_t length) {
  const bool in_line = parts_.requests.at(segment.position).payload_in == rdmap::PayloadIn::kInline;
  // What is inline lies in the queue, where nothing is written until the request is done.
  batch.payload_.use = use_for(segment.length, in_line ? SourceMemory::kStable : source_);
  if (!in_line) return gather_list(batch, segment, length);
  batch.payload_.add(parts_.requests.inline_data(segment.position).subspan(segment.offset, length));
  return std::nullopt;
}

std::optional<SendFault> Outbound::gather_list(Batch& batch, const rdmap::OutgoingSegment& segment,
                                               std::uint32_t length) {
  std::uint64_t skip = segment.offset;
  std::uint64_t left = length;
  for (const ddp::Sge& sge : parts_.requests.sges(segment.position)) {
    if (left == 0) break;
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    const std::uint64_t size = std::min<std::uint64_t>(sge.length - skip, left);
    const auto memory =
        pin(batch, sge.lkey, ddp::Rights::kNone, TaggedOffset{sge.address + skip}, size);
    if (!memory) return RequestFault{RequestFault::What::kNoAccess, segment.position, {}};
    batch.payload_.add({*memory, static_cast<std::size_t>(size)});
    left -= size;
    skip = 0;
  }
  return std::nullopt;
}

// Others, peers or the program, may write to what a peer reads; that is theirs to order (RFC 5040
// §5.5), whatever was promised of requests.
std::optional<SendFault> Outbound::gather_response(Batch& batch,
                                                   const rdmap::OutgoingSegment& segment,
                                                   std::uint32_t length) {
  const rdmap::ReadRequest& asked = parts_.responses.at(segment.position).read;
  const auto memory = pin(batch, asked.source_stag, ddp::Rights::kRemoteRead,
                          TaggedOffset{asked.source_to.value() + segment.offset}, length);
  if (!memory) return refuse_read(segment, memory.error());
  batch.payload_.use = use_for(segment.length, SourceMemory::kMayChange);
  batch.payload_.add({*memory, length});
  return std::nullopt;
}

// Segments of one batch mostly come from the same buffer: it is pinned once.
Result<std::byte*, ddp::Error> Outbound::pin(Batch& batch, Stag stag, ddp::Rights wanted,
                                             TaggedOffset from, std::uint64_t length) {
  if (!batch.pins_.empty()) {
    std::byte* const memory = batch.pins_.back().reach(stag, wanted, from, length);
    if (memory != nullptr) return memory;
  }
  auto pin = parts_.stags.pin(stag, parts_.accessor, wanted, from, length, recent_);
  if (!pin) return failure(pin.error());
  batch.pins_.push_back(std::move(*pin));
  return batch.pins_.back().memory();
}

}  // namespace iwarp::connection
