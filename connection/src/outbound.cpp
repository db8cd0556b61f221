#include "iwarp/connection/outbound.hpp"

#include <algorithm>
#include <utility>

#include "iwarp/mpa/mulpdu.hpp"

namespace iwarp::connection {
namespace {

// Whether position `a` is behind position `b`; both count up freely.
bool is_behind(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

}  // namespace

Outbound::Outbound(const Parts& parts, const Settings& settings)
    : parts_(parts),
      source_(settings.source),
      framer_(settings.crc, settings.markers),
      transmitter_({parts.requests, parts.responses, parts.reads}, settings.rtr) {}

// ---- Octets ----

// The rest of an FPDU goes alone: if the stream takes no more, planning was for nothing.
Offer Outbound::offer(Batch& batch, const OutboundLimits& limits) {
  batch.clear();
  Offer offer;
  if (!rest().empty()) {
    batch.gather_.reference(rest());
  } else if (limits.may_leave != MayLeave::kRestOnly || terminating()) {
    offer.all = plan(batch, limits, offer.fault);
    // The peer may ask again as soon as it holds a response, before the write has returned.
    parts_.responses.planned(transmitter_.cursor().response);
    if (!batch.runs_.empty()) offer.fault.reset();  // found again, when that has left
  }
  if (batch.size() == 0) batch.clear();
  offer.pieces = batch.pieces();
  return offer;
}

// The memory behind what was offered is let go before this returns, unless the stream still reads
// it: a deregistration may be waiting.
std::optional<CutFault> Outbound::sent(Batch& batch, std::size_t accepted, std::uint64_t released) {
  std::optional<CutFault> cut;
  if (batch.runs_.empty()) {
    counters_.octets += accepted;
    rest_from_ += accepted;
    if (accepted != 0 && rest().empty()) drop_rest(released);
  } else {
    const Begun begun = settle_runs(batch, accepted);
    counters_.octets += accepted;
    cut = keep_rest(batch, begun, accepted);
    const bool lent = accepted != 0 && released < counters_.octets;
    if (lent && !cut) hold(batch);
  }
  batch.clear();
  return cut;
}

void Outbound::go_to(const Batch::Position& position) {
  transmitter_.rewind(position.cursor);
  framer_ = position.framer;
}

// Brings this half to where it stands behind the FPDUs that have begun to leave.
Outbound::Begun Outbound::settle_runs(Batch& batch, std::size_t accepted) {
  Begun begun;
  auto run = batch.runs_.cbegin();
  for (; run != batch.runs_.cend() && begun.end < accepted; ++run) {
    settle_run(*run, accepted, begun);
    if (begun.count != run->count) break;
  }
  if (run != batch.runs_.cend() && begun.run != &*run) go_to(run->before);
  parts_.responses.planned(transmitter_.cursor().response);
  parts_.responses.retire(transmitter_.cursor().response);
  return begun;
}

// The run begins at begun.end. If it has FPDUs of which no octet was accepted this half stands
// behind those that have begun.
void Outbound::settle_run(const Batch::Run& run, std::size_t accepted, Begun& begun) {
  begun.run = &run;
  mpa::Framer framer = run.before.framer;
  std::uint32_t count = 0;
  if (accepted >= run.end && !run.closes_request) {
    count = run.count;
    begun.end = run.end;
  }
  for (; count != run.count && begun.end < accepted; ++count) {
    begun.end += framer.pass(run.ulpdu);
    if (!run.closes_request) continue;
    parts_.requests.at(run.request + count).end_offset = counters_.octets + begun.end;
  }
  begun.count = count;
  counters_.fpdus += count;
  if (count == run.count) return;
  const auto& before = run.before.cursor;
  go_to({run.closes_request ? rdmap::Transmitter::behind_messages(before, run.numbered, count)
                            : rdmap::Transmitter::behind(before, run.source, count * run.length),
         framer});
}

// The rest of an FPDU that was cut is copied: its CRC has been taken, so that its octets must
// neither change nor go away with their registration.
std::optional<CutFault> Outbound::keep_rest(const Batch& batch, const Begun& begun,
                                            std::size_t accepted) {
  if (begun.end == accepted) return std::nullopt;
  rest_.resize(begun.end - accepted);
  const MemoryFault missing = batch.gather_.extract(accepted, rest_);
  if (!missing) return std::nullopt;
  rest_ = std::vector<std::byte>();
  CutFault fault{std::nullopt, missing};
  // The first of its run, as it was not copied: rows are.
  if (begun.run->source == rdmap::Source::kRequest) fault.request = begun.run->request;
  return fault;
}

// A stream that has not copied it yet reads on.
void Outbound::drop_rest(std::uint64_t released) {
  if (released < counters_.octets) {
    held_.emplace_back();
    held_.back().end = counters_.octets;
    held_.back().rest.swap(rest_);
  }
  rest_ = std::vector<std::byte>();
  rest_from_ = 0;
}

void Outbound::hold(Batch& batch) {
  held_.emplace_back();  // what may throw comes first
  Held& held = held_.back();
  held.end = counters_.octets;
  batch.swap_room(held.gather, held.pins);
  for (ddp::StagTable::Pin& pin : held.pins) pin.lend();
}

void Outbound::released(std::uint64_t octets) {
  const auto kept =
      std::ranges::find_if(held_, [octets](const Held& held) { return held.end > octets; });
  held_.erase(held_.begin(), kept);
}

bool Outbound::has_more() const { return !rest().empty() || transmitter_.ready(); }

// ---- Requests ----

// A request that was flushed is not asked for: it has gone from the queue.
bool Outbound::has_left(std::uint32_t position) const {
  return is_behind(transmitter_.cursor().request, position);
}

bool Outbound::is_done(std::uint32_t position, std::uint64_t released) const {
  if (position == parts_.requests.tail() || !has_left(position)) return false;
  const rdmap::Request& request = std::as_const(parts_.requests).at(position);
  return rdmap::awaits_response(request.operation)
             ? is_behind(parts_.reads.finished(), request.read_index)
             : released >= request.end_offset;
}

// Those that were flushed are not counted.
std::uint32_t Outbound::count_done(std::uint64_t released) {
  const std::uint32_t head = parts_.requests.head();
  if (is_behind(head, counted_)) counted_ = head;
  for (; is_done(counted_, released); ++counted_) count(parts_.requests.at(counted_).operation);
  return counted_ - head;
}

void Outbound::count(rdmap::Operation operation) {
  using rdmap::Operation;
  switch (operation) {
    case Operation::kSend:
    case Operation::kSendInvalidate:
    case Operation::kSendSolicited:
    case Operation::kSendSolicitedInvalidate: ++counters_.sends; return;
    case Operation::kWrite: ++counters_.writes; return;
    case Operation::kRead: ++counters_.reads; return;
    case Operation::kFetchAdd:
    case Operation::kCmpSwap: ++counters_.atomics; return;
    case Operation::kWriteImmediate:
    case Operation::kWriteImmediateSolicited: ++counters_.writes; [[fallthrough]];
    case Operation::kImmediate:
    case Operation::kImmediateSolicited: ++counters_.immediates; return;
    case Operation::kLocal: return;
  }
}

// It is done as soon as what is before it has been released.
void Outbound::skip_local() {
  parts_.requests.at(next_request()).end_offset = counters_.octets;
  transmitter_.skip_local();
}

}  // namespace iwarp::connection
