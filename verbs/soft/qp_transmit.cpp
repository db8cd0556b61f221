#include <algorithm>
#include <array>

#include "iwarp/mpa/mulpdu.hpp"
#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using rdmap::StreamEvent;
using rdmap::StreamState;
using tcp_offload::IoStatus;

// Up to here copying a payload is cheaper than one more piece in the gather list.
constexpr std::size_t kCopyUpTo = 2048;
// What one system call takes: enough to pay for it, little enough to be in the cache still when the
// kernel copies it.
constexpr std::size_t kBatchOctets = std::size_t{256} * 1024;
// How many of them one queue pair sends before others get their turn: a quantum in octets, since
// the socket limits what it takes anyway.
constexpr int kBatchesPerTurn = 16;

}  // namespace

/// The octets of one segment, in place.
struct SoftQp::Payload {
  std::array<ConstBytes, kMaxSges> pieces;
  std::size_t count = 0;
  mpa::PayloadUse use = mpa::PayloadUse::kCopy;

  void add(ConstBytes piece) { pieces[count++] = piece; }
  [[nodiscard]] std::span<const ConstBytes> all() const { return std::span(pieces).first(count); }
};

void SoftQp::transmit() {
  contain([this] { tx_.run([this] { transmit_some(); }); });
  settle();
}

void SoftQp::transmit_some() {
  const bool connected = link_.load() != nullptr;
  deferred_.store(false);
  if (connected) send_all();
  if (silent()) return;
  if (connected) retire();
  if (flushing() || closed_here_.load()) flush_requests();
  if (!connected) return;
  const StreamState state = stream_state();
  const bool ending = state == StreamState::kClosing || state == StreamState::kTerminating;
  if (ending && nothing_left_to_send()) apply(StreamEvent::kAllSent, state);
  end_draining();
}

// Both halves have ended. Before the stream is over, the peer's TCP has acknowledged everything: a
// peer that had closed its socket answers what comes then by a reset, and what was sent is lost. A
// device that does not copy is done with the program's memory, too: nobody would look after it any
// more.
void SoftQp::end_draining() {
  const Link& link = *link_.load();
  if (!awaits_delivery() || link.stream.released() < link.accepted) return;
  const auto delivery = link.stream.delivery();
  if (delivery.unacknowledged == 0) return apply(StreamEvent::kPeerFin, StreamState::kDraining);
  if (delivery.lost) return lost(connection_lost(delivery.lost));
  init_.host->look_again(*this);
}

void SoftQp::send_all() {
  Link& link = *link_.load();
  const StreamState state = stream_state();
  if (state == StreamState::kDraining || state == StreamState::kClosed) return;
  if (sending_lost_.load()) {
    const bool closing = state == StreamState::kClosing && input_ended_.load();
    if (closing || state == StreamState::kTerminating) lost(connection_lost(link.send_error));
    return;
  }
  if (state == StreamState::kTerminating) take_terminate();
  sending_.store(Sending::kGoesOn);
  const auto go_on = [&] { return sending_.load() == Sending::kGoesOn && !sending_lost_.load(); };
  // RFC 5044 §7.1.2 rule 4 holds back FPDUs; work that sends none is done up to the first of them.
  const auto send = [&] { return !hold_.load() && send_batch(); };
  for (int batches = 0; send() || (go_on() && perform_local());) {
    if (++batches < kBatchesPerTurn) continue;
    yield_turn();
    break;
  }
  if (!bad_request_ || link.transmitter.terminating() || stream_state() == StreamState::kClosed) {
    return;
  }
  if (!go_on()) {
    // Planned too far ahead: what is before it still has to leave, or never will.
    bad_request_.reset();
  } else {
    rdmap::Terminate message;
    message.cause = rdmap::cause_of(rdmap::Error::kLocalCatastrophic);
    order_terminate(message, bad_request_->reason);
  }
}

// Others get their turn; the socket calls again as soon as it takes more, which may be at once.
void SoftQp::yield_turn() {
  sending_.store(Sending::kAwaitsSocket);
  init_.host->want_write(*this);
}

// The socket has room: it would call at once, again and again.
void SoftQp::await_memory() {
  sending_.store(Sending::kAwaitsMemory);
  init_.host->look_again(*this);
}

void SoftQp::take_terminate() {
  const std::lock_guard lock(state_mutex_);
  if (!ordered_terminate_ || hold_.load()) return;
  link_.load()->transmitter.terminate(*ordered_terminate_);
  terminate_sent_ = terminate_info(*ordered_terminate_);
  ordered_terminate_.reset();
}

// Sends one gathering write. False if there was nothing to send, or the stream takes no more.
bool SoftQp::send_batch() {
  Link& link = *link_.load();
  Scratch& scratch = Scratch::of_thread();
  scratch.clear();
  // What is left of a cut FPDU goes alone: if the stream takes no more, planning was for nothing.
  if (link.unsent_size() != 0) {
    scratch.gather.reference(ConstBytes(link.unsent).subspan(link.unsent_from));
  } else {
    plan(mpa::mulpdu(link.stream.emss(), link.framer.markers()));
  }
  if (scratch.gather.size() == 0) {
    scratch.pins.clear();
    return false;
  }
  const auto sent = link.stream.send(scratch.gather.pieces());
  commit(sent.accepted);
  scratch.pins.clear();  // a deregistration may be waiting for them
  if (stream_state() == StreamState::kClosed) return false;
  return goes_on_after(sent);
}

// A peer may say its last word and close while this end is still sending. TCP answers what comes
// then by a reset, of which the sending half may learn first. What had arrived before, a Terminate
// perhaps, is still the program's: the receiving half ends the stream when it has seen all of it.
void SoftQp::lose_sending(const std::error_code& error) {
  Link& link = *link_.load();
  link.send_error = error;
  sending_lost_.store(true);
  if (input_ended_.load() || stream_state() == StreamState::kTerminating) {
    return lose_connection(connection_lost(error));
  }
  init_.host->want_read(*this);
}

void SoftQp::plan(std::size_t mulpdu) {
  Link& link = *link_.load();
  Scratch& scratch = Scratch::of_thread();
  if (closed_here_.load() && !link.transmitter.terminating()) return;
  const bool only_terminate = stream_state() == StreamState::kTerminating;
  if (only_terminate && !link.transmitter.terminating()) return;
  scratch.before = link.transmitter.cursor();
  scratch.framer_before = link.framer;
  while (scratch.planned.size() < Scratch::kMaxFpdus && scratch.gather.size() < kBatchOctets) {
    if (!plan_segment(mulpdu)) break;
  }
  link.responses.planned(link.transmitter.cursor().response);
}

bool SoftQp::plan_segment(std::size_t mulpdu) {
  Link& link = *link_.load();
  Scratch& scratch = Scratch::of_thread();
  const mpa::Markers markers = link.framer.markers();
  if (!scratch.gather.has_room(mpa::Framer::arena_needed(mulpdu, mulpdu, markers),
                               mpa::Framer::pieces_needed(kMaxSges, mulpdu, markers))) {
    return false;
  }
  const auto before = link.transmitter.cursor();
  const bool first = before.rtr == rdmap::Rtr::kNone && !link.transmitter.terminating();
  if (first && before.request == link.unagreed) {
    bad_request_ = {before.request, Status::kRemoteInvalidRequest,
                    "a request was posted before the connection, which does not allow it"};
    return false;
  }
  const auto segment = link.transmitter.next(mulpdu);
  if (!segment) return false;
  Payload payload;
  if (!resolve(*segment, payload)) {
    link.transmitter.rewind(before);
    return false;
  }
  if (const auto fault = frame(*segment, payload)) {
    link.transmitter.rewind(before);
    blame_source(*segment, fault);
    return false;
  }
  scratch.planned.push_back({scratch.gather.size(), link.transmitter.cursor(), link.framer,
                             segment->source, segment->position, segment->closes_request});
  return true;
}

// The one place where what the program has registered is read before the system call. It may change
// meanwhile: see use_for().
MemoryFault SoftQp::frame(const rdmap::OutgoingSegment& segment, const Payload& payload) {
  return link_.load()->framer.frame(segment.header_bytes(), payload.all(), payload.use,
                                    Scratch::of_thread().gather);
}

// What leaves has to be what the CRC was taken of, or the peer ends the connection. So memory that
// may change is copied, and the CRC is that of the copy. Markers cut a payload into pieces of 508
// octets, so that copying it is cheaper at any length. What the stream could not read is copied to
// find out which request it belongs to.
mpa::PayloadUse SoftQp::use_for(std::size_t length, SourceBuffers buffers) const {
  const mpa::Framer& framer = link_.load()->framer;
  const bool must_keep_crc = framer.crc() == mpa::Crc::kOn && buffers == SourceBuffers::kMayChange;
  const bool cheaper = length <= kCopyUpTo || framer.markers() == mpa::Markers::kOn;
  return must_keep_crc || cheaper || copies_all_ ? mpa::PayloadUse::kCopy
                                                 : mpa::PayloadUse::kReference;
}

bool SoftQp::resolve(const rdmap::OutgoingSegment& segment, Payload& payload) {
  switch (segment.source) {
    case rdmap::Source::kNone: return true;
    case rdmap::Source::kRequest: return resolve_request(segment, payload);
    case rdmap::Source::kResponse: return resolve_response(segment, payload);
    case rdmap::Source::kTerminate:
      payload.add(link_.load()->transmitter.terminate_bytes());
      return true;
  }
  return true;
}

bool SoftQp::resolve_request(const rdmap::OutgoingSegment& segment, Payload& payload) {
  if (segment.length == 0) return true;
  payload.use = use_for(segment.length, init_.source_buffers);
  if (send_queue_.at(segment.position).payload_in == rdmap::PayloadIn::kInline) {
    payload.use = use_for(segment.length, SourceBuffers::kStable);  // the queue's own
    payload.add(send_queue_.inline_data(segment.position).subspan(segment.offset, segment.length));
    return true;
  }
  std::uint64_t skip = segment.offset;
  std::uint64_t left = segment.length;
  for (const ddp::Sge& sge : send_queue_.sges(segment.position)) {
    if (left == 0) break;
    if (skip >= sge.length) {
      skip -= sge.length;
      continue;
    }
    const std::uint64_t size = std::min<std::uint64_t>(sge.length - skip, left);
    auto pin = init_.host->stags().pin(sge.lkey, accessor(), ddp::Rights::kNone,
                                       TaggedOffset{sge.address + skip}, size);
    if (!pin) {
      bad_request_ = {segment.position, Status::kLocalProtectionError,
                      "a send request names memory that may not be read"};
      return false;
    }
    payload.add({pin->memory(), static_cast<std::size_t>(size)});
    Scratch::of_thread().pins.push_back(std::move(*pin));
    left -= size;
    skip = 0;
  }
  return true;
}

// Others, peers or the program, may write to what a peer reads; that is theirs to order (RFC 5040
// §5.5), whatever the program has promised of its own sends.
bool SoftQp::resolve_response(const rdmap::OutgoingSegment& segment, Payload& payload) {
  if (segment.length == 0) return true;
  const rdmap::ReadRequest& asked = link_.load()->responses.at(segment.position).read;
  auto pin = init_.host->stags().pin(asked.source_stag, accessor(), ddp::Rights::kRemoteRead,
                                     TaggedOffset{asked.source_to.value() + segment.offset},
                                     segment.length);
  if (!pin) {
    refuse_read(segment, pin.error());
    return false;
  }
  payload.use = use_for(segment.length, SourceBuffers::kMayChange);
  payload.add({pin->memory(), segment.length});
  Scratch::of_thread().pins.push_back(std::move(*pin));
  return true;
}

// Brings the stream's position to what was accepted. The rest of an FPDU that was cut is copied:
// its CRC has been computed, so its octets must not change nor go away with their registration.
void SoftQp::commit(std::size_t accepted) {
  Link& link = *link_.load();
  Scratch& scratch = Scratch::of_thread();
  const std::uint64_t start = link.accepted;
  link.accepted += accepted;
  link.octets_sent.add(accepted);
  if (scratch.planned.empty()) {
    link.unsent_from += accepted;
    if (link.unsent_size() == 0) link.drop_unsent();
    return;
  }
  std::size_t begun = 0;  // FPDUs of which at least one octet was accepted
  std::size_t end = 0;    // where the last of them ends
  for (const PlannedFpdu& fpdu : scratch.planned) {
    if (end >= accepted) break;
    if (fpdu.closes_request) send_queue_.at(fpdu.request).end_offset = start + fpdu.end;
    end = fpdu.end;
    ++begun;
  }
  link.fpdus_sent.add(begun);
  link.transmitter.rewind(begun == 0 ? scratch.before : scratch.planned[begun - 1].cursor);
  link.framer = begun == 0 ? scratch.framer_before : scratch.planned[begun - 1].framer;
  link.responses.planned(link.transmitter.cursor().response);
  link.responses.retire(link.transmitter.cursor().response);
  if (end > accepted) {
    link.unsent.resize(end - accepted);
    const auto fault = scratch.gather.extract(accepted, link.unsent);
    if (fault) return lose_cut_fpdu(scratch.planned[begun - 1], fault);
  }
  if (link.stream.released() < link.accepted) link.hold(scratch);
}

// A responder that has been told to disconnect meanwhile: behind the peer's RTR indication, which
// is on its way, leave what was posted and the answer to an RTR Read. Where none was agreed upon,
// the peer may never say a word.
bool SoftQp::rtr_comes_first() const {
  const bool graceful = stream_state() == StreamState::kClosing && !closed_here_.load();
  return graceful && !input_ended_.load() && awaits_rtr(link_.load()->mode);
}

bool SoftQp::nothing_left_to_send() {
  Link& link = *link_.load();
  if (hold_.load()) return !local_due() && !rtr_comes_first();
  if (link.unsent_size() != 0) return false;
  const auto cursor = link.transmitter.cursor();
  if (stream_state() == StreamState::kTerminating) {
    const std::lock_guard lock(state_mutex_);
    return !ordered_terminate_ && (!link.transmitter.terminating() || cursor.terminated);
  }
  if (closed_here_.load()) return link.stream.released() >= link.accepted;
  if (!input_ended_.load() && send_queue_.head() != send_queue_.tail()) return false;
  // Behind the FIN requests are flushed; those that have left are not to be.
  if (link.stream.released() < link.accepted) return false;
  // With the peer's half ended no response will come: what waits for one never leaves.
  const bool more = link.transmitter.next(mpa::kMinMulpdu).has_value();
  link.transmitter.rewind(cursor);
  return !more;
}

}  // namespace iwarp::verbs::soft
