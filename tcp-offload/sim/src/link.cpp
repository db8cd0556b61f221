#include "link.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

namespace iwarp::tcp_offload {
namespace sim {

std::error_code system_error(int value) { return {value, std::system_category()}; }

std::error_code Link::reset_error() { return system_error(ECONNRESET); }

Link::Link(World& world, const SimOptions& options, const Endpoint& connector,
           const Endpoint& acceptor)
    : world_(world),
      a_(*this, SimSide::kConnector, options, connector),
      b_(*this, SimSide::kAcceptor, options, acceptor) {}

void Link::abort(SimSide side) {
  if (lost(side)) return;
  from(side).send_reset();
  towards(side).abandon();
  lose(side, system_error(ECONNABORTED));
}

void Link::drop(SimSide side) {
  End& here = end(side);
  here.notify = nullptr;
  here.dropped = true;
  if (!here.lost && towards(side).unread() != 0) return abort(side);
  from(side).own_memory();
  from(side).finish();
  towards(side).abandon();
}

void Link::break_both() {
  for (const SimSide side : {SimSide::kConnector, SimSide::kAcceptor}) {
    from(side).cut();
    lose(side, reset_error());
  }
}

void Link::arrived(SimSide at) {
  End& here = end(at);
  const bool unwanted = here.dropped && !here.lost && !towards(at).ended();
  if (unwanted) return abort(at);  // data for an end that is not held any more
  notify(at);
}

void Link::lose(SimSide side, std::error_code error) {
  End& here = end(side);
  if (here.lost) return;
  here.lost = error;
  here.out.stop();
  notify(side);
}

void Link::notify(SimSide side) {
  // A copy: being told may end the interest.
  if (const auto notify_now = end(side).notify) notify_now();
}

}  // namespace sim

std::uint64_t SimDirection::accepted() const { return pipe_->accepted(); }

std::uint64_t SimDirection::arrived() const { return pipe_->arrived(); }

void SimDirection::corrupt_at(std::uint64_t offset, std::byte mask) {
  pipe_->faults().flips[offset] ^= mask;
}

std::uint64_t SimDirection::corrupt_within(std::uint64_t first, std::uint64_t last) {
  assert(first < last);
  sim::Random& random = pipe_->world().random;
  const std::uint64_t offset = first + random.below(last - first);
  corrupt_at(offset, std::byte{1} << static_cast<unsigned>(random.below(8)));
  return offset;
}

void SimDirection::reset_at(std::uint64_t offset) {
  pipe_->faults().reset = offset;
  pipe_->check_reset();
}

void SimDirection::stall_for(std::chrono::nanoseconds duration) {
  sim::PipeFaults& faults = pipe_->faults();
  faults.stalled_until = std::max(faults.stalled_until, pipe_->world().schedule.now() + duration);
}

void SimDirection::stall_at(std::uint64_t offset, std::chrono::nanoseconds duration) {
  pipe_->faults().stalls[offset] = duration;
}

void SimDirection::set_segments(SimRange payload) { pipe_->options().segment = payload; }

void SimDirection::set_emss(std::size_t octets) { pipe_->options().emss = octets; }

SimDirection SimLink::from(SimSide sender) const { return SimDirection(link_->from(sender)); }

Endpoint SimLink::endpoint(SimSide side) const { return link_->endpoint(side); }

void SimLink::reset() { link_->break_both(); }

}  // namespace iwarp::tcp_offload
