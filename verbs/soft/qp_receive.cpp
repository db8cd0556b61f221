#include <algorithm>
#include <thread>
#include <utility>

#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using rdmap::StreamEvent;
using tcp_offload::IoStatus;

// How many reads one turn takes before others get theirs.
constexpr int kReadsPerTurn = 4;

// How a request ends that the peer answered with a Terminate.
Status status_of(const rdmap::Cause& cause) {
  if (cause == rdmap::cause_of(rdmap::Error::kUnexpectedOpcode)) {
    return Status::kRemoteInvalidRequest;
  }
  const bool access =
      cause.layer == rdmap::Layer::kRdmap && cause.type == rdmap::kTypeRemoteProtection;
  return access ? Status::kRemoteAccessError : Status::kRemoteOperationError;
}

}  // namespace

// Where processors are few, the thread that polls may have the one on which the executor was about
// to return from telling the program of the connection.
void SoftQp::drive() {
  if (silent()) return std::this_thread::yield();
  flush();
  receive();
}

void SoftQp::flush() {
  posted_since_drive_.store(0, std::memory_order_relaxed);
  octets_since_drive_.store(0, std::memory_order_relaxed);
  if (deferred_.load() || blocked()) transmit();
}

bool SoftQp::receive() {
  bool drained = false;
  contain([&] {
    if (link_.load() == nullptr || input_ended_.load()) return;
    rx_.try_run([&] {
      flush_if_wanted();
      drained = !resume() || !reads() || receive_some();
    });
  });
  settle();
  return drained;
}

// Reads, verifies and places. True once the stream has nothing more for now.
bool SoftQp::receive_some() {
  Link& link = *link_.load();
  Scratch& scratch = Scratch::of_thread();
  std::size_t have = link.tail_size;  // copied in front of what comes, if anything comes
  const std::uint64_t whole_before = link.fpdus_received.value();
  bool restored = false;
  bool drained = false;
  for (int turn = 0; turn < kReadsPerTurn && !drained && reads(); ++turn) {
    const MutableBytes room(scratch.staging.get() + have, Scratch::kReadSize);
    const auto got = link.stream.receive(room);
    if (got.status != IoStatus::kOk) {
      drained = true;
      if (got.status == IoStatus::kEndOfStream) end_of_input(have != 0);
      if (got.status == IoStatus::kLost) lose_input(got.error);
      if (got.status == IoStatus::kWouldBlock && sending_lost_.load()) lose_input(link.send_error);
      break;
    }
    link.octets_received.add(got.data.size());
    if (!restored && have != 0) std::copy_n(link.tail.get(), have, scratch.staging.get());
    restored = true;
    const MutableBytes left = take_in(have, got.data);
    if (awaits_receive()) {
      keep_tail(ConstBytes(scratch.staging.get(), have), left, true);
      link.stream.consume(got.data.size());
      return true;
    }
    // Fewer than there was room for: asking once more would only cost a system call.
    drained = got.data.size() < room.size();
    link.stream.consume(got.data.size());
  }
  const bool progress = link.fpdus_received.value() != whole_before;
  if (restored) keep_tail(ConstBytes(scratch.staging.get(), have), {}, progress);
  return drained;
}

// Takes octets that the stream has lent, behind `have` octets of an unfinished FPDU at the start of
// the staging buffer; of those `have` are left there. Returns what it did not look at: nothing,
// unless a message awaits a receive.
MutableBytes SoftQp::take_in(std::size_t& have, MutableBytes data) {
  std::byte* staging = Scratch::of_thread().staging.get();
  while (!data.empty() && !awaits_receive()) {
    // A device lends from its own memory or has filled the place it was offered.
    const std::size_t piece = std::min(data.size(), Scratch::kReadSize);
    if (data.data() != staging + have) std::copy_n(data.data(), piece, staging + have);
    data = data.subspan(piece);
    const MutableBytes all(staging, have + piece);
    const std::size_t used = process(all);
    have = all.size() - used;
    if (used != 0) std::memmove(staging, staging + used, have);
  }
  return data;
}

// Handles the whole FPDUs at the start of `bytes`, up to one that awaits a receive; returns how
// many octets they were.
std::size_t SoftQp::process(MutableBytes bytes) {
  Link& link = *link_.load();
  const std::size_t size = bytes.size();
  while (!bytes.empty() && !link.discard) {
    const mpa::Deframed next = link.deframer.next(bytes);
    if (std::holds_alternative<mpa::NeedMore>(next)) return size - bytes.size();
    if (const auto* error = std::get_if<mpa::Error>(&next)) {
      rdmap::Terminate message;
      message.cause = rdmap::cause_of_llp(mpa::terminate_code(*error));
      on_fault({message, std::nullopt});
      break;
    }
    const auto& fpdu = std::get<mpa::Fpdu>(next);
    on_ulpdu(fpdu.ulpdu);
    bytes = bytes.subspan(fpdu.wire_size);
    if (awaits_receive()) return size - bytes.size();
  }
  return size;
}

void SoftQp::on_ulpdu(ConstBytes ulpdu) {
  Link& link = *link_.load();
  link.fpdus_received.add(1);
  const bool first = !std::exchange(link.first_seen, true);
  if (first) hold_.store(false);  // RFC 5044 §7.1.2 rule 4: from here on a responder may send
  // What comes behind a message that waits has to be kept.
  const bool waits = init_.receive_wait.count() != 0 && init_.host->tail_room();
  const auto event =
      link.receiver.on_ulpdu(ulpdu, waits ? rdmap::NoReceive::kWait : rdmap::NoReceive::kFault);
  if (!event) return on_fault(event.error());
  if (std::holds_alternative<rdmap::AwaitsReceive>(*event)) {
    await_receive(ulpdu);
  } else {
    on_event(*event);
  }
  if (first) on_first_fpdu();
}

// Stops reading, for a bounded time. TCP makes the peer wait.
void SoftQp::await_receive(ConstBytes ulpdu) {
  link_.load()->waiting.assign(ulpdu.begin(), ulpdu.end());
  receive_deadline_.store(from_now(init_.receive_wait));
  set_awaits_receive(true);
  // Whoever posts looks next whether a message waits, and it is offered here next: one of the two
  // finds the other.
  if (!offer_awaiting()) init_.host->look_again(*this);
}

// Whoever sleeps at its queues is not to be woken by a socket that is not read.
void SoftQp::set_awaits_receive(bool awaits) {
  awaits_receive_.store(awaits);
  init_.send_cq->set_reading(*this, !awaits);
  init_.recv_cq->set_reading(*this, !awaits);
}

// Offers the message that waits once more; false if it waits on.
bool SoftQp::offer_awaiting() {
  Link& link = *link_.load();
  const bool late = from_now({}) >= receive_deadline_.load();
  const auto event = link.receiver.on_ulpdu(
      link.waiting, late ? rdmap::NoReceive::kFault : rdmap::NoReceive::kWait);
  if (event && std::holds_alternative<rdmap::AwaitsReceive>(*event)) return false;
  set_awaits_receive(false);
  link.waiting.clear();
  if (event) {
    on_event(*event);
  } else {
    on_fault(event.error());
  }
  return true;
}

// Goes on with what came behind the message that waited; false if one waits.
bool SoftQp::resume() {
  if (!awaits_receive()) return true;
  if (!offer_awaiting()) return false;
  Link& link = *link_.load();
  const auto behind = std::move(link.tail);
  const MutableBytes octets(behind.get(), link.tail_size);
  init_.host->account_tail(-static_cast<std::ptrdiff_t>(octets.size()));
  link.tail_size = 0;
  std::size_t have = 0;
  const MutableBytes left = take_in(have, octets);
  keep_tail(ConstBytes(Scratch::of_thread().staging.get(), have), left, true);
  return !awaits_receive();
}

void SoftQp::on_first_fpdu() {
  Link& link = *link_.load();
  if (link.mode.role != Role::kResponder) return;
  want_transmit_.store(true);
  if (link.mode.agreed.model != mpa::ConnectionModel::kPeerToPeer) return;
  Clock::rep awaited = deadline_.load();
  if (stream_state() != rdmap::StreamState::kOperational) return;  // its first word was the last
  deadline_.compare_exchange_strong(awaited, 0);  // unless that of an end has come meanwhile
}

void SoftQp::on_event(const rdmap::Event& event) {
  Link& link = *link_.load();
  if (const auto* delivered = std::get_if<rdmap::SendDelivered>(&event)) {
    complete_receive(*delivered);
  } else if (std::holds_alternative<rdmap::PlacedWrite>(event)) {
    if (!link.at_rtr()) link.peer_writes.add(1);
  } else if (std::holds_alternative<rdmap::ReadRequestDelivered>(event)) {
    if (!link.at_rtr()) link.peer_reads.add(1);
    want_transmit_.store(true);
  } else if (std::holds_alternative<rdmap::AtomicRequestDelivered>(event)) {
    link.peer_atomics.add(1);
    want_transmit_.store(true);
  } else if (std::holds_alternative<rdmap::RequestFinished>(event)) {
    want_transmit_.store(true);
  } else if (const auto* terminate = std::get_if<rdmap::Terminate>(&event)) {
    on_peer_terminate(*terminate);
  }
}

void SoftQp::complete_receive(const rdmap::SendDelivered& delivered) {
  Completion completion;
  completion.wr_id = delivered.cookie;
  completion.qp_number = number();
  completion.opcode = CompletionOpcode::kReceive;
  completion.byte_length = delivered.length;
  if (delivered.solicited) completion.flags = CompletionFlags::kSolicited;
  if (delivered.invalidated) {
    // Other streams' copies may be under way under the STag; they end before the program hears.
    init_.host->memory().await_quiet(*delivered.invalidated);
    completion.flags = completion.flags | CompletionFlags::kInvalidated;
    completion.invalidated = *delivered.invalidated;
  }
  if (delivered.immediate) {
    completion.flags = completion.flags | CompletionFlags::kImmediate;
    completion.immediate = *delivered.immediate;
  }
  link_.load()->receives.add(1);
  shared_receives_.give_back();
  if (!init_.recv_cq->push(completion, receive_places())) {
    lost("the receive completion queue overran");
  }
}

void SoftQp::on_fault(const rdmap::Fault& fault) {
  Link& link = *link_.load();
  const rdmap::Cause too_long = rdmap::cause_of(ddp::Error::kMessageTooLong);
  const Status first = fault.local_memory                  ? Status::kLocalProtectionError
                       : fault.terminate.cause == too_long ? Status::kLocalLengthError
                                                           : Status::kFlushed;
  if (fault.in_sink) blamed_read_.blame(link.reads.finished(), Status::kLocalProtectionError);
  link.discard = true;  // from here on requests may be flushed
  std::string reason = rdmap::describe(fault.terminate.cause);
  if (fault.memory) reason += ": " + missing_memory(Attempt::kWrite, fault.memory);
  order_terminate(fault.terminate, std::move(reason));
  flush_receives(fault.in_sink ? Status::kFlushed : first);
}

// The request that a Terminate names failed at the peer; what else is under way nobody knows.
void SoftQp::on_peer_terminate(const rdmap::Terminate& message) {
  Link& link = *link_.load();
  explain(fault_found_by_peer(message));
  if (const auto index = named_request(message)) {
    blamed_read_.blame(*index, status_of(message.cause));
  }
  {
    const std::lock_guard lock(state_mutex_);
    terminate_received_ = terminate_info(message);
  }
  link.discard = true;  // from here on requests may be flushed
  apply(StreamEvent::kPeerTerminate);
}

// Which of our Reads and atomics a Terminate is about: by the Read Request Header, or else by the
// MSN of the DDP header, as all of them travel on QN 1 (RFC 5040 §4.8, RFC 7306 §5.2).
std::optional<std::uint32_t> SoftQp::named_request(const rdmap::Terminate& message) const {
  const Link& link = *link_.load();
  const std::uint32_t first = link.reads.finished();
  const auto header = ddp::parse(ConstBytes(message.ddp_header).first(message.ddp_header_size));
  const auto* untagged = header ? std::get_if<ddp::UntaggedSegment>(&*header) : nullptr;
  const bool by_msn = untagged != nullptr && untagged->header.qn == rdmap::kReadRequestQueueNumber;
  for (std::uint32_t i = 0; i < link.mode.agreed.depths.ord; ++i) {
    const std::uint32_t index = first + i;
    const bool named = message.read_request
                           ? message.read_request->sink_stag == link.reads.sink_stag(index)
                           : by_msn && untagged->header.msn.value() == index + 1U;
    if (named) return index;
  }
  return std::nullopt;
}

// Nothing is read any more, so nobody is to be woken for it.
void SoftQp::stop_reading() {
  const int descriptor = link_.load()->stream.descriptor();
  input_ended_.store(true);
  init_.send_cq->forget_descriptor(descriptor);
  init_.recv_cq->forget_descriptor(descriptor);
}

void SoftQp::end_of_input(bool inside_fpdu) {
  Link& link = *link_.load();
  stop_reading();
  if (inside_fpdu && !link.discard) {
    return lose_connection(abortive_end(EndedBy::kPeerFin, EndLayer::kMpa,
                                        "the peer closed the connection inside an FPDU"));
  }
  if (sending_lost_.load()) return lose_connection(connection_lost(link.send_error));
  explain(graceful_end(EndedBy::kPeerFin, EndLayer::kTcp, "the peer closed the connection"));
  if (outlive_peer()) return;
  want_transmit_.store(true);
  apply(StreamEvent::kPeerFin, rdmap::StreamState::kOperational);  // later: end_draining()
}

void SoftQp::lose_input(const std::error_code& error) {
  stop_reading();
  lose_connection(connection_lost(error));
}

// Keeps the octets of an unfinished FPDU with the queue pair: the staging buffer is the thread's.
// Its time runs from its first octet; octets that trickle in do not lengthen it. Behind a message
// that awaits a receive there may be more of them, and there is no hurry.
void SoftQp::keep_tail(ConstBytes rest, ConstBytes behind, bool progress) {
  Link& link = *link_.load();
  if (link.discard) rest = behind = {};
  const std::size_t size = rest.size() + behind.size();
  const bool fresh = progress || link.tail_size == 0;
  link.tail.reset(size == 0 ? nullptr : new std::byte[size]);
  init_.host->account_tail(static_cast<std::ptrdiff_t>(size) -
                           static_cast<std::ptrdiff_t>(link.tail_size));
  link.tail_size = size;
  std::copy(behind.begin(), behind.end(), std::copy(rest.begin(), rest.end(), link.tail.get()));
  if (size == 0 || awaits_receive()) {
    half_fpdu_since_.store(0);
  } else if (fresh) {
    half_fpdu_since_.store(from_now({}));
  }
  half_fpdu_octets_.store(size);
}

void SoftQp::flush_if_wanted() {
  if (silent() || !want_flush_.exchange(false)) return;
  flush_receives(Status::kFlushed);
  want_transmit_.store(true);  // Reads waited for the end of placing
}

// Whether the program would not understand why its receives end.
bool SoftQp::keeps_receives() const {
  if (!init_.connectionless || given_up_.load()) return false;
  const std::lock_guard lock(state_mutex_);
  return graceful_;
}

// Completes what is posted, in order: the one that a message had begun to fill first.
void SoftQp::flush_receives(Status first) {
  Link* link = link_.load();
  const auto complete = [this](const rdmap::ReceiveBuffer& buffer, Status status) {
    Completion completion;
    completion.wr_id = buffer.cookie;
    completion.qp_number = number();
    completion.opcode = CompletionOpcode::kReceive;
    completion.status = status;
    init_.recv_cq->push(completion, receive_places());
  };
  if (link != nullptr) {
    link->discard = true;
    if (awaits_receive()) set_awaits_receive(false);
    link->waiting.clear();
    keep_tail({}, {}, false);
    if (const auto open = link->receiver.abandon()) {
      // Whoever sees the completion may post anew at once: the entry is free before.
      const rdmap::ReceiveBuffer buffer = *open;
      shared_receives_.give_back();
      complete(buffer, first);
    }
  }
  if (keeps_receives()) return;
  while (const auto buffer = receive_queue_.take()) complete(*buffer, Status::kFlushed);
  shared_receives_.give_back();
  if (!receives_over_.exchange(true) && init_.srq) {
    init_.host->report({AsyncEvent::Kind::kQpLastWqeReached, number(),
                        "queue pair " + std::to_string(number()) +
                            " has ended and takes no more of its shared receives"});
  }
}

}  // namespace iwarp::verbs::soft
