#include <algorithm>

#include "iwarp/connection/outbound.hpp"
#include "iwarp/ddp/header.hpp"
#include "iwarp/mpa/mulpdu.hpp"

/// Which FPDUs the next gathering write holds. They are made in runs: the segments of a long
/// message differ in nothing but where they begin, so that what is decided, looked up and
/// remembered for one of them holds for all.
namespace iwarp::connection {

// Whether nothing is left that could leave now.
bool Outbound::plan(Batch& batch, const OutboundLimits& limits, std::optional<SendFault>& fault) {
  while (batch.fpdus_ < Batch::kMostFpdus) {
    if (!transmitter_.ready() && !refuses_next()) return true;
    if (!plan_run(batch, limits, fault)) return false;
  }
  return false;
}

// False if there is none to make, no room for it, or a fault.
bool Outbound::plan_run(Batch& batch, const OutboundLimits& limits,
                        std::optional<SendFault>& fault) {
  if (refuses_next()) {
    fault = RequestFault{RequestFault::What::kNotAgreed, transmitter_.cursor().request, {}};
    return false;
  }
  const auto before = transmitter_.cursor();
  auto segment = transmitter_.next(longest_ulpdu(batch, limits));
  if (!segment) return false;
  const std::size_t ulpdu = segment->header_size + segment->length;
  if (!fits(batch, ulpdu, limits)) {
    transmitter_.rewind(before);
    return false;
  }
  const mpa::Framer framer = framer_;
  std::uint32_t most = 1U + most_alike(batch, *segment, limits);
  fault = gather(batch, *segment, most);
  if (fault && most > 1) {  // what can be read in front of what cannot still leaves
    most = 1;
    fault = gather(batch, *segment, most);
  }
  std::uint32_t count = 0;
  if (!fault) {
    MemoryFault missing;
    count = frame_run(batch, *segment, most, limits, missing);
    if (count == 0) fault = memory_missing(*segment, missing);
  }
  if (fault) {
    transmitter_.rewind(before);
    return false;
  }
  if (count > 1) {
    transmitter_.repeat(*segment, count - 1);
  } else {
    count += frame_messages(batch, *segment, limits);
  }
  batch.runs_.push_back({{before, framer},
                         batch.size(),
                         ulpdu,
                         segment->length,
                         count,
                         segment->source,
                         segment->position,
                         segment->closes_request,
                         segment->is_numbered()});
  batch.fpdus_ += count;
  return true;
}

// Of what comes behind the FPDUs of the batch. What need not fit a segment is made to end with the
// quantum: TCP would put its rest in front of the next packet's FPDUs.
std::size_t Outbound::longest_ulpdu(const Batch& batch, const OutboundLimits& limits) const {
  if (limits.max_fpdu == 0) return limits.mulpdu;
  if (limits.quantum == 0) return std::max(limits.mulpdu, mpa::mulpdu(limits.max_fpdu, markers()));
  const std::size_t room = limits.quantum - std::min(limits.quantum, batch.size());
  return mpa::filling_ulpdu(room, limits.max_fpdu, limits.mulpdu, markers());
}

// How many segments like this one, behind it, could be in the batch at most.
std::uint32_t Outbound::most_alike(const Batch& batch, const rdmap::OutgoingSegment& segment,
                                   const OutboundLimits& limits) const {
  const std::uint32_t alike = transmitter_.alike(segment);
  if (alike == 0) return 0;
  const std::size_t left = limits.octets - std::min(limits.octets, batch.size());
  return static_cast<std::uint32_t>(std::min<std::size_t>(alike, left / segment.length + 1));
}

bool Outbound::refuses_next() const {
  const auto& cursor = transmitter_.cursor();
  return refused_ == cursor.request && cursor.rtr == rdmap::Rtr::kNone && !terminating();
}

// Whether one more FPDU may go into the batch.
bool Outbound::fits(const Batch& batch, std::size_t ulpdu, const OutboundLimits& limits) const {
  const bool room = batch.gather_.has_room(mpa::Framer::arena_needed(ulpdu, ulpdu, markers()),
                                           mpa::Framer::pieces_needed(kMaxSges, ulpdu, markers()));
  const bool first = batch.size() == 0;
  const bool in_quantum =
      limits.quantum == 0 || first || batch.size() + framer_.wire_size(ulpdu) <= limits.quantum;
  return room && in_quantum && batch.size() < limits.octets;
}

// Frames `segment` and up to `most` - 1 that follow it, as far as they fit; returns how many. It
// ends in front of memory that is missing: what is there leaves first.
std::uint32_t Outbound::frame_run(Batch& batch, rdmap::OutgoingSegment& segment, std::uint32_t most,
                                  const OutboundLimits& limits, MemoryFault& missing) {
  const std::size_t ulpdu = segment.header_size + segment.length;
  for (std::uint32_t count = 0;;) {
    missing = framer_.frame(segment.header_bytes(), batch.payload_.take(segment.length),
                            batch.payload_.use, batch.gather_);
    if (missing) return count;
    ++count;
    const bool full = batch.fpdus_ + count == Batch::kMostFpdus;
    if (count == most || full || !fits(batch, ulpdu, limits)) return count;
    ddp::advance(segment.header.data(), segment.length);
  }
}

}  // namespace iwarp::connection
