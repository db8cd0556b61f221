#include <cstring>
#include <numeric>

#include "soft/qp_link.hpp"

namespace iwarp::verbs::soft {
namespace {

// A post that is left for the poller waits for company up to here.
constexpr std::uint32_t kDeferredPosts = 64;
constexpr std::size_t kDeferredOctets = std::size_t{256} * 1024;

std::uint64_t length_of(std::span<const Sge> sges) {
  return std::accumulate(sges.begin(), sges.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Sge& sge) { return sum + sge.length; });
}

rdmap::Operation operation_of(const SendWr& request) {
  const bool solicited = has(request.flags, SendFlags::kSolicited);
  switch (request.opcode) {
    case Opcode::kSend:
      return solicited ? rdmap::Operation::kSendSolicited : rdmap::Operation::kSend;
    case Opcode::kSendInvalidate:
      return solicited ? rdmap::Operation::kSendSolicitedInvalidate
                       : rdmap::Operation::kSendInvalidate;
    case Opcode::kWrite: return rdmap::Operation::kWrite;
    case Opcode::kRead: return rdmap::Operation::kRead;
    case Opcode::kImmediate:
      return solicited ? rdmap::Operation::kImmediateSolicited : rdmap::Operation::kImmediate;
    case Opcode::kWriteImmediate:
      return solicited ? rdmap::Operation::kWriteImmediateSolicited
                       : rdmap::Operation::kWriteImmediate;
    case Opcode::kFetchAdd: return rdmap::Operation::kFetchAdd;
    case Opcode::kCmpSwap: return rdmap::Operation::kCmpSwap;
    case Opcode::kBindWindow:
    case Opcode::kInvalidate:
    case Opcode::kRegister: return rdmap::Operation::kLocal;
  }
  return rdmap::Operation::kSend;
}

bool is_local(Opcode opcode) { return opcode >= Opcode::kBindWindow; }

bool is_atomic(Opcode opcode) { return opcode == Opcode::kFetchAdd || opcode == Opcode::kCmpSwap; }

// Whether the lists of a request make sense for what it does.
bool is_well_formed(const SendWr& request, std::uint64_t length) {
  switch (request.opcode) {
    case Opcode::kImmediate: return request.sges.empty();
    case Opcode::kFetchAdd:
    case Opcode::kCmpSwap: return length == rdmap::kAtomicSize;
    case Opcode::kBindWindow: return request.sges.empty() && request.bind != nullptr;
    case Opcode::kRegister: return request.sges.empty() && request.registration != nullptr;
    case Opcode::kInvalidate: return request.sges.empty();
    default:
      return request.opcode < Opcode::kImmediate || request.opcode == Opcode::kWriteImmediate;
  }
}

// What the program hands over instead of naming it.
bool may_be_inline(Opcode opcode) {
  return opcode != Opcode::kRead && !is_atomic(opcode) && !is_local(opcode);
}

void copy_sges(std::span<const Sge> from, std::span<ddp::Sge> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = {reinterpret_cast<std::uintptr_t>(from[i].address), from[i].length, from[i].lkey};
  }
}

void copy_inline(std::span<const Sge> from, MutableBytes to) {
  for (const Sge& sge : from) {
    if (sge.length != 0) std::memcpy(to.data(), sge.address, sge.length);
    to = to.subspan(sge.length);
  }
}

}  // namespace

std::errc SoftQp::check(const SendWr& request) const {
  constexpr std::errc kMalformed = std::errc::invalid_argument;
  const std::uint64_t length = length_of(request.sges);
  if (request.opcode > Opcode::kRegister || !is_well_formed(request, length)) return kMalformed;
  if (request.sges.size() > init_.capacity.max_send_sge) return kMalformed;
  if (length > UINT32_MAX) return std::errc::message_size;  // RFC 5041 §5.2
  if (has(request.flags, SendFlags::kInline)) {
    if (!may_be_inline(request.opcode) || length > init_.capacity.max_inline) return kMalformed;
  }
  const bool early = course() == connection::Course::kIdle && !takes_early_posts();
  const bool late = submits_no_more() && !init_.flushes_late_posts;
  if (early || late) return std::errc::not_connected;
  if (const Link* link = link_.load()) {
    const std::errc refused = link->check_agreed(operation_of(request));
    if (refused != std::errc{}) return refused;
  }
  return send_places_.room() == 0 ? std::errc::not_enough_memory : std::errc{};
}

// RFC 5041 §6.2.1: a program that has asked for a graceful end submits nothing more. What it posts
// behind close(), or when the connection is over, is not submitted: it is flushed.
bool SoftQp::submits_no_more() const {
  const connection::Life now = life();
  return now.program == connection::Program::kEnds && now.course != connection::Course::kClosed;
}

// Behind what has come late comes everything.
bool SoftQp::comes_late() const {
  return init_.flushes_late_posts && (submits_no_more() || !late_posts_.empty());
}

// What keeps requests from being posted together.
std::optional<PostError> SoftQp::check_all(std::span<const SendWr> requests) const {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (const std::errc problem = check(requests[i]); problem != std::errc{}) {
      return PostError{problem, i};
    }
  }
  if (const std::size_t room = send_places_.room(); room < requests.size()) {
    return PostError{std::errc::not_enough_memory, room};
  }
  return std::nullopt;
}

// What the connection does not allow. With an ORD of 0 a Read would wait for ever.
std::errc SoftQp::Link::check_agreed(rdmap::Operation operation) const {
  const bool rfc7306 = rdmap::is_atomic(operation) || rdmap::carries_immediate(operation);
  if (rdmap::awaits_response(operation) && mode.agreed.depths.ord == 0) {
    return std::errc::invalid_argument;
  }
  return rfc7306 && !mode.info.rfc7306 ? std::errc::not_supported : std::errc{};
}

// From here on each post is checked against what was agreed; those before it are checked here.
void SoftQp::publish(Link& link) {
  const std::lock_guard lock(post_send_lock_);
  for (std::uint32_t at = send_queue_.head(); at != send_queue_.tail(); ++at) {
    if (link.check_agreed(send_queue_.at(at).operation) == std::errc{}) continue;
    link.outbound().refuse_at(at);
    break;
  }
  link_.store(&link);
}

void SoftQp::append(const SendWr& request) {
  const bool in_line = has(request.flags, SendFlags::kInline);
  rdmap::Request& entry = send_queue_.vacant();
  entry.cookie = request.wr_id;
  entry.report = init_.signaling == Signaling::kAll || has(request.flags, SendFlags::kSignaled);
  entry.operation = operation_of(request);
  entry.payload_in = in_line ? rdmap::PayloadIn::kInline : rdmap::PayloadIn::kSges;
  entry.fence = has(request.flags, SendFlags::kFence) ? rdmap::Fence::kYes : rdmap::Fence::kNo;
  entry.sge_count = in_line ? std::uint16_t{0} : static_cast<std::uint16_t>(request.sges.size());
  entry.length = static_cast<std::uint32_t>(length_of(request.sges));
  entry.remote_stag = request.remote_stag;
  entry.remote_to = TaggedOffset{request.remote_offset};
  entry.invalidate = request.invalidate_stag;
  entry.immediate = request.immediate;
  entry.atomic = {request.atomic.data, request.atomic.mask, request.atomic.compare,
                  request.atomic.compare_mask};
  if (is_local(request.opcode)) append_local(request);
  if (in_line) {
    copy_inline(request.sges, send_queue_.vacant_inline());
  } else {
    copy_sges(request.sges, send_queue_.vacant_sges());
  }
  send_places_.take();
  send_queue_.append();
}

// Nothing of it leaves, so there is nothing to keep but the completion.
void SoftQp::append_late(const SendWr& request) {
  Completion& completion = late_posts_.emplace_back();
  completion.wr_id = request.wr_id;
  completion.qp_number = number();
  completion.status = Status::kFlushed;
  completion.opcode = completion_opcode(request.opcode);
  completion.byte_length = static_cast<std::uint32_t>(length_of(request.sges));
  send_places_.take();
}

// The first post since the last poll leaves at once. Those behind it wait for the poller, who has
// the socket anyway, so that many posts make one system call.
bool SoftQp::may_defer(std::size_t octets) {
  const std::uint32_t posted = posted_since_drive_.fetch_add(1, std::memory_order_relaxed);
  const std::size_t before = octets_since_drive_.fetch_add(octets, std::memory_order_relaxed);
  // Where a poll does not look at each queue pair, it would not see what was left for it.
  if (!leased() || posted == 0 || !polled_each_time()) return false;
  // Nor would one who sleeps. Whoever begins to sleep sends what was left before.
  if (init_.send_cq->has_waiter() || init_.recv_cq->has_waiter()) return false;
  return posted % kDeferredPosts != 0 &&
         before / kDeferredOctets == (before + octets) / kDeferredOctets;
}

Result<void, PostError> SoftQp::post_send(std::span<const SendWr> requests, Posting posting) {
  if (origin_.refuses()) return refused_post();
  std::errc problem{};
  std::size_t posted = 0;
  std::size_t octets = 0;
  {
    const std::lock_guard lock(post_send_lock_);
    if (posting == Posting::kAllOrNone) {
      if (const auto refused = check_all(requests)) return failure(*refused);
    }
    for (const SendWr& request : requests) {
      if (posting == Posting::kUntilRefused) problem = check(request);
      if (problem != std::errc{}) break;
      comes_late() ? append_late(request) : append(request);
      octets += length_of(request.sges);
      ++posted;
    }
  }
  if (posted != 0) {
    deferred_.store(true);
    // A poller that has left, or that finds the stream over, sends or flushes nothing any more.
    if (!may_defer(octets) || !leased() || flushing() || given_up()) transmit();
  }
  if (problem != std::errc{}) return failure(PostError{problem, posted});
  return {};
}

Result<void, PostError> SoftQp::post_receive(std::span<const RecvWr> requests) {
  if (origin_.refuses()) return refused_post();
  if (init_.srq) return failure(PostError{std::errc::invalid_argument, 0});
  std::errc problem{};
  std::size_t posted = 0;
  {
    const std::lock_guard lock(post_receive_lock_);
    for (const RecvWr& request : requests) {
      if (request.sges.size() > init_.capacity.max_recv_sge) problem = std::errc::invalid_argument;
      if (receive_places_.room() == 0) problem = std::errc::not_enough_memory;
      if (problem != std::errc{}) break;
      copy_sges(request.sges, receive_queue_.vacant_sges());
      receive_places_.take();
      receive_queue_.append(request.wr_id, request.sges.size());
      ++posted;
    }
  }
  if (awaits_receive()) {
    receive();
    if (!awaits_receive()) init_.host->want_read(*this);
  }
  if (flushing_receives()) {
    want_flush_.store(true);
    settle();
  }
  if (problem != std::errc{}) return failure(PostError{problem, posted});
  return {};
}

}  // namespace iwarp::verbs::soft
