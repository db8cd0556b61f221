#include "soft/qp/halves/receive_half.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "soft/mpa_offload.hpp"
#include "soft/qp/halves/scratch.hpp"

namespace iwarp::verbs::soft {
namespace {

using connection::InboundStop;
using connection::Output;
using tcp_offload::IoStatus;

// How many reads one turn takes before others get theirs.
constexpr int kReadsPerRun = 4;

}  // namespace

bool ReceiveHalf::run(Link& link) {
  bool drained = false;
  inside_.try_run([&] {
    inside_.assert_inside();
    drained = run_inside(link);
  });
  return drained;
}

void ReceiveHalf::flush_if_wanted() {
  inside_.run([this] {
    inside_.assert_inside();
    flush_inside();
  });
}

void ReceiveHalf::close() {
  inside_.close(parts_.init.services->pause, [] {});
}

bool ReceiveHalf::run_inside(Link& link) {
  flush_inside();
  return !resume(link) || !reads() || read(link);
}

// True once the stream has nothing more for now.
bool ReceiveHalf::read(Link& link) {
  std::byte* const staging = Scratch::of_thread().staging.get();
  std::size_t have = link.inbound().kept();  // moved in front of what comes, if anything comes
  bool drained = false;
  bool moved = false;
  for (int turn = 0; turn < kReadsPerRun && !drained && reads(); ++turn) {
    const MutableBytes room(staging + have, Scratch::kReadSize);
    // Behind a loss of the way out comes nothing any more: asked for before what there is is read.
    const bool output_lost = parts_.life.now().output == Output::kLost;
    const auto got = link.stream.receive(room);
    if (got.status != IoStatus::kOk) {
      if (got.status == IoStatus::kBadFpdu) {
        on_bad_fpdu(link, got.error);
        continue;
      }
      drained = true;
      if (got.status == IoStatus::kEndOfStream) on_end_of_stream(link, have != 0);
      if (got.status == IoStatus::kLost) on_lost(link, got.error);
      if (got.status == IoStatus::kWouldBlock && output_lost) {
        on_lost(link, parts_.life.send_error());
      }
      break;
    }
    if (!std::exchange(moved, true)) link.inbound().move_kept(staging);
    const MutableBytes left = take_in(link, have, got.data);
    drained = got.drained || awaits_receive();
    if (awaits_receive()) keep(link, {staging, have}, left);
    link.stream.consume(got.data.size());
  }
  if (moved && !awaits_receive()) keep(link, {staging, have}, {});
  return drained;
}

// The same fault as of an FPDU that was lent and found bad here.
void ReceiveHalf::on_bad_fpdu(Link& link, const std::error_code& error) {
  take_runs(link, [&](const auto& /*limits*/, auto& events) {
    link.inbound().refuse(reason_of_bad_fpdu(error), events);
    return InboundStop::kEnded;
  });
}

// Takes octets that the stream has lent, behind `have` octets of an unfinished FPDU at the start of
// the staging buffer; of those `have` are left there. Returns what it did not look at: nothing,
// unless a message awaits a receive.
MutableBytes ReceiveHalf::take_in(Link& link, std::size_t& have, MutableBytes data) {
  std::byte* const staging = Scratch::of_thread().staging.get();
  while (!data.empty() && !awaits_receive()) {
    // A device lends from its own memory or has filled the place it was offered.
    const std::size_t piece = std::min(data.size(), Scratch::kReadSize);
    if (data.data() != staging + have) std::copy_n(data.data(), piece, staging + have);
    data = data.subspan(piece);
    MutableBytes rest(staging, have + piece);
    take_runs(link, [&](const auto& limits, auto& events) {
      const auto taken = link.inbound().take(rest, limits, events);
      rest = rest.subspan(taken.octets);
      return taken.why;
    });
    have = rest.size();
    if (have != 0 && rest.data() != staging) std::memmove(staging, rest.data(), have);
  }
  return data;
}

// What has been delivered before something throws is the program's.
template <typename Step>
InboundStop ReceiveHalf::gather_events(Link& link, Step step, connection::InboundEvents& events) {
  events.clear();
  try {
    return step(limits(), events);
  } catch (const std::exception&) {
    on_events(link, events);
    throw;
  }
}

// Takes runs of FPDUs by `step`, until it needs more octets or a message awaits a receive.
template <typename Step>
void ReceiveHalf::take_runs(Link& link, Step step) {
  connection::InboundEvents& events = Scratch::of_thread().events;
  for (;;) {
    const InboundStop why = gather_events(link, step, events);
    on_events(link, events);
    const bool goes_on = why == InboundStop::kEventsFull ||
                         (why == InboundStop::kAwaitsReceive && !await_receive(link, events));
    if (!goes_on) return;
  }
}

// Where nothing waits for a receive the time is of no account.
connection::InboundLimits ReceiveHalf::limits() const {
  if (parts_.init.receive_wait.count() == 0) return {};
  return {.now = parts_.init.services->time.running(),
          .may_wait = parts_.init.services->halves.has_room()};
}

// Stops reading, for a bounded time. TCP makes the peer wait. False if the message has been taken
// after all: a thread that posts looks then whether a message waits, and the message is offered
// after it has been said to wait; one of the two finds the other.
bool ReceiveHalf::await_receive(Link& link, connection::InboundEvents& events) {
  set_awaits_receive(true);
  if (offer_awaiting(link, events)) return false;
  parts_.look_again();
  return true;
}

// A thread that sleeps at the queues is not to be woken by a socket that is not read.
void ReceiveHalf::set_awaits_receive(bool awaits) {
  awaits_receive_.store(awaits);
  parts_.init.send_cq->attached().set_reading(*parts_.driven, !awaits);
  parts_.init.recv_cq->attached().set_reading(*parts_.driven, !awaits);
}

// Offers the message that waits once more; false if it waits on.
bool ReceiveHalf::offer_awaiting(Link& link, connection::InboundEvents& events) {
  bool taken = false;
  gather_events(
      link,
      [&](const auto& limits, auto& into) {
        taken = link.inbound().offer_waiting(limits, into);
        return InboundStop::kNeedsMore;
      },
      events);
  if (!taken) return false;
  set_awaits_receive(false);
  on_events(link, events);
  return true;
}

// Goes on with what came behind the message that waited; false if one waits.
bool ReceiveHalf::resume(Link& link) {
  if (!awaits_receive()) return true;
  if (!offer_awaiting(link, Scratch::of_thread().events)) return false;
  take_runs(link, [&](const auto& limits, auto& events) {
    return link.inbound().resume(limits, events);
  });
  account_kept(link);
  return !awaits_receive();
}

// Keeps what was not taken with the queue pair: the staging buffer is the thread's.
void ReceiveHalf::keep(Link& link, ConstBytes rest, ConstBytes behind) {
  const bool any = !rest.empty() || !behind.empty();
  link.inbound().keep(rest, behind,
                      any ? parts_.init.services->time.running() : TimeSource::Time{});
  account_kept(link);
}

void ReceiveHalf::account_kept(Link& link) {
  const connection::Inbound& inbound = link.inbound();
  link.received.publish(inbound.counters());
  if (inbound.kept() == 0 && link.accounted == 0) return;
  // Shown before it is accounted for: where room becomes short by it, it is looked for.
  const auto half = inbound.half_fpdu();
  half_octets_.store(inbound.kept());
  half_since_.store(half ? half->since.time_since_epoch().count() : 0);
  parts_.init.services->halves.account(static_cast<std::ptrdiff_t>(inbound.kept()) -
                                       static_cast<std::ptrdiff_t>(link.accounted));
  link.accounted = inbound.kept();
}

std::optional<HalfFpdu> ReceiveHalf::half_fpdu() const {
  using Time = TimeSource::Time;
  const Time since{Time::duration(half_since_.load())};
  const Link* link = parts_.link.load();
  if (link == nullptr || since == Time{} || parts_.life.is_over()) return std::nullopt;
  return HalfFpdu{since, std::max<std::size_t>(half_octets_.load(), 1),
                  link->mode.info.remote.address()};
}

}  // namespace iwarp::verbs::soft
