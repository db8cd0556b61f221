#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::Course;
using connection::InboundStop;
using connection::Input;
using connection::LifeEvent;
using connection::Output;
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
    if (link_.load() == nullptr || input_ended()) return;
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
  std::byte* const staging = Scratch::of_thread().staging.get();
  std::size_t have = link.inbound().kept();  // moved in front of what comes, if anything comes
  bool drained = false;
  bool moved = false;
  for (int turn = 0; turn < kReadsPerTurn && !drained && reads(); ++turn) {
    const MutableBytes room(staging + have, Scratch::kReadSize);
    const auto got = link.stream.receive(room);
    if (got.status != IoStatus::kOk) {
      drained = true;
      if (got.status == IoStatus::kEndOfStream) end_of_input(have != 0);
      if (got.status == IoStatus::kLost) lose_input(got.error);
      const bool read_to_the_end = life().output == Output::kLost;
      if (got.status == IoStatus::kWouldBlock && read_to_the_end) lose_input(link.send_error);
      break;
    }
    if (!std::exchange(moved, true)) link.inbound().move_kept(staging);
    const MutableBytes left = take_in(have, got.data);
    // Fewer than there was room for: asking once more would only cost a system call.
    drained = got.data.size() < room.size() || awaits_receive();
    if (awaits_receive()) keep({staging, have}, left);
    link.stream.consume(got.data.size());
  }
  if (moved && !awaits_receive()) keep({staging, have}, {});
  return drained;
}

// Takes octets that the stream has lent, behind `have` octets of an unfinished FPDU at the start of
// the staging buffer; of those `have` are left there. Returns what it did not look at: nothing,
// unless a message awaits a receive.
MutableBytes SoftQp::take_in(std::size_t& have, MutableBytes data) {
  connection::Inbound& inbound = link_.load()->inbound();
  std::byte* const staging = Scratch::of_thread().staging.get();
  while (!data.empty() && !awaits_receive()) {
    // A device lends from its own memory or has filled the place it was offered.
    const std::size_t piece = std::min(data.size(), Scratch::kReadSize);
    if (data.data() != staging + have) std::copy_n(data.data(), piece, staging + have);
    data = data.subspan(piece);
    MutableBytes rest(staging, have + piece);
    run([&](const auto& limits, auto& events) {
      const auto taken = inbound.take(rest, limits, events);
      rest = rest.subspan(taken.octets);
      return taken.why;
    });
    have = rest.size();
    if (rest.data() != staging) std::memmove(staging, rest.data(), have);
  }
  return data;
}

// What has been delivered before something throws is the program's.
template <typename Step>
InboundStop SoftQp::gather_events(Step step, connection::InboundEvents& events) {
  events.clear();
  try {
    return step(inbound_limits(), events);
  } catch (const std::exception&) {
    on_events(events);
    throw;
  }
}

// Takes runs of FPDUs by `step`, until it needs more octets or a message awaits a receive.
template <typename Step>
void SoftQp::run(Step step) {
  connection::InboundEvents& events = Scratch::of_thread().events;
  for (;;) {
    const InboundStop why = gather_events(step, events);
    on_events(events);
    const bool goes_on = why == InboundStop::kEventsFull ||
                         (why == InboundStop::kAwaitsReceive && !await_receive(events));
    if (!goes_on) return;
  }
}

// Where nothing waits for a receive the time is of no account.
connection::InboundLimits SoftQp::inbound_limits() const {
  if (init_.receive_wait.count() == 0) return {};
  return {.now = init_.host->running(), .may_wait = init_.host->tail_room()};
}

// What the program is told of is counted before.
void SoftQp::on_events(const connection::InboundEvents& events) {
  Link& link = *link_.load();
  link.received.publish(link.inbound().counters());
  if (events.first) apply(LifeEvent::kFirstFpdu);
  complete_receives(events.deliveries());
  if (events.for_outbound) want_transmit_.store(true);
  if (events.fault) return on_fault(*events.fault, events.faulty_read);
  if (events.terminate) on_peer_terminate(*events.terminate, events.terminated_read);
  if (events.first) on_first_fpdu();
}

// Stops reading, for a bounded time. TCP makes the peer wait. False if the message has been taken
// after all: a thread that posts looks then whether a message waits, and the message is offered
// after it has been said to wait; one of the two finds the other.
bool SoftQp::await_receive(connection::InboundEvents& events) {
  set_awaits_receive(true);
  if (offer_awaiting(events)) return false;
  init_.host->look_again(*this);
  return true;
}

// Whoever sleeps at its queues is not to be woken by a socket that is not read.
void SoftQp::set_awaits_receive(bool awaits) {
  awaits_receive_.store(awaits);
  init_.send_cq->set_reading(*this, !awaits);
  init_.recv_cq->set_reading(*this, !awaits);
}

// Offers the message that waits once more; false if it waits on.
bool SoftQp::offer_awaiting(connection::InboundEvents& events) {
  bool taken = false;
  gather_events(
      [&](const auto& limits, auto& into) {
        taken = link_.load()->inbound().offer_waiting(limits, into);
        return InboundStop::kNeedsMore;
      },
      events);
  if (!taken) return false;
  set_awaits_receive(false);
  on_events(events);
  return true;
}

// Goes on with what came behind the message that waited; false if one waits.
bool SoftQp::resume() {
  if (!awaits_receive()) return true;
  if (!offer_awaiting(Scratch::of_thread().events)) return false;
  connection::Inbound& inbound = link_.load()->inbound();
  run([&](const auto& limits, auto& events) { return inbound.resume(limits, events); });
  account_kept();
  return !awaits_receive();
}

void SoftQp::on_first_fpdu() {
  const Link& link = *link_.load();
  if (link.mode.role != Role::kResponder) return;
  want_transmit_.store(true);
  if (link.mode.agreed.model != mpa::ConnectionModel::kPeerToPeer) return;
  Clock::rep awaited = deadline_.load();
  if (course() != Course::kOperational) return;   // its first word was the last
  deadline_.compare_exchange_strong(awaited, 0);  // unless that of an end has come meanwhile
}

// What one of them throws keeps no other from being completed.
void SoftQp::complete_receives(std::span<const rdmap::SendDelivered> deliveries) {
  std::exception_ptr thrown;
  for (const rdmap::SendDelivered& delivered : deliveries) {
    try {
      complete_receive(delivered);
    } catch (const std::exception&) {
      thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
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
  if (!init_.recv_cq->push(completion, receive_places())) {
    lost("the receive completion queue overran");
  }
}

void SoftQp::on_fault(const rdmap::Fault& fault, std::optional<std::uint32_t> faulty_read) {
  const rdmap::Cause too_long = rdmap::cause_of(ddp::Error::kMessageTooLong);
  const Status first = fault.local_memory                  ? Status::kLocalProtectionError
                       : fault.terminate.cause == too_long ? Status::kLocalLengthError
                                                           : Status::kFlushed;
  if (faulty_read) blamed_read_.blame(*faulty_read, Status::kLocalProtectionError);
  apply(LifeEvent::kInputStopped);  // from here on requests may be flushed
  std::string reason = rdmap::describe(fault.terminate.cause);
  if (fault.memory) reason += ": " + missing_memory(Attempt::kWrite, fault.memory);
  order_terminate(fault.terminate, std::move(reason));
  flush_receives(faulty_read ? Status::kFlushed : first);
}

// The request that a Terminate names failed at the peer; what else is under way nobody knows.
void SoftQp::on_peer_terminate(const rdmap::Terminate& message,
                               std::optional<std::uint32_t> terminated_read) {
  explain(fault_found_by_peer(message));
  if (terminated_read) blamed_read_.blame(*terminated_read, status_of(message.cause));
  {
    const std::lock_guard lock(state_mutex_);
    terminate_received_ = terminate_info(message);
  }
  apply(LifeEvent::kInputStopped);  // from here on requests may be flushed
  apply(LifeEvent::kPeerTerminate);
}

// Nothing is read any more, so that no thread is to be woken for it, whatever else goes wrong.
void SoftQp::end_input(LifeEvent event) {
  struct Forget {
    SoftQp& of;
    ~Forget() { of.forget_descriptor(); }
  };
  const Forget at_the_end{*this};
  apply(event);
}

void SoftQp::forget_descriptor() noexcept {
  const int descriptor = link_.load()->stream.descriptor();
  init_.send_cq->forget_descriptor(descriptor);
  init_.recv_cq->forget_descriptor(descriptor);
}

void SoftQp::end_of_input(bool inside_fpdu) {
  const bool cut = inside_fpdu && life().input == Input::kOpen;
  if (cut) {
    explain(abortive_end(EndedBy::kPeerFin, EndLayer::kMpa,
                         "the peer closed the connection inside an FPDU"));
  } else {
    explain(graceful_end(EndedBy::kPeerFin, EndLayer::kTcp, "the peer closed the connection"));
  }
  want_transmit_.store(true);
  end_input(cut ? LifeEvent::kInputLost : LifeEvent::kPeerFin);
}

void SoftQp::lose_input(const std::error_code& error) {
  explain(connection_lost(error));
  end_input(LifeEvent::kInputLost);
}

// Keeps what was not taken with the queue pair: the staging buffer is the thread's.
void SoftQp::keep(ConstBytes rest, ConstBytes behind) {
  const bool any = !rest.empty() || !behind.empty();
  link_.load()->inbound().keep(rest, behind, any ? init_.host->running() : Clock::time_point{});
  account_kept();
}

void SoftQp::account_kept() {
  Link& link = *link_.load();
  const connection::Inbound& inbound = link.inbound();
  link.received.publish(inbound.counters());
  init_.host->account_tail(static_cast<std::ptrdiff_t>(inbound.kept()) -
                           static_cast<std::ptrdiff_t>(link.accounted));
  link.accounted = inbound.kept();
  const auto half = inbound.half_fpdu();
  half_fpdu_since_.store(half ? half->since.time_since_epoch().count() : 0);
  half_fpdu_octets_.store(inbound.kept());
}

void SoftQp::flush_if_wanted() {
  if (silent() || !want_flush_.exchange(false)) return;
  flush_receives(Status::kFlushed);
  want_transmit_.store(true);  // Reads waited for the end of placing
}

// Whether the program would not understand why its receives end.
bool SoftQp::keeps_receives() const {
  if (!init_.connectionless || given_up()) return false;
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
    apply(LifeEvent::kInputStopped);
    if (awaits_receive()) set_awaits_receive(false);
    if (const auto open = link->inbound().stop()) {
      // Whoever sees the completion may post anew at once: the entry is free before.
      const rdmap::ReceiveBuffer buffer = *open;
      shared_receives_.give_back();
      complete(buffer, first);
    }
    account_kept();
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
